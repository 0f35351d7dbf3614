// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/model/quantized_checks.h"

#include "mace/core/model/model_check.h"

namespace mace {
namespace {

// The types of outputs are in the model, for each of them.
MaceStatus CheckDef(const OpSchema &schema, const OperatorDef &def) {
  if (def.output_types.size() != def.outputs.size()) {
    return InvalidArgs("has ", def.outputs.size(),
                       " quantized output(s), but types for ",
                       def.output_types.size());
  }
  for (size_t i = 0; i < def.outputs.size(); ++i) {
    if (def.outputs[i].empty() || i >= schema.output_count) continue;
    const PortSchema &port = schema.outputs[i];
    const uint32_t types = PortTypes(port, true);
    if ((types & DataTypeBit(def.output_types[i])) != 0) continue;
    return InvalidArgs("output '", port.name, "' is ",
                       DataTypeName(def.output_types[i]),
                       "; quantized, it can be ", DataTypeNames(types));
  }
  return MaceStatus();
}

// After its type was checked.
MaceStatus CheckInput(const OpSchema &schema,
                      size_t index,
                      const Tensor &tensor) {
  const PortSchema &port =
      PortSchemaAt(schema.inputs, schema.input_count, index);
  if (PortTypes(port, true) == port.data_types) return MaceStatus();
  if (tensor.quantization == nullptr) {
    return InvalidArgs("input '", port.name, "' ('", tensor.name,
                       "') has no scale, which an operator with a quantized "
                       "output needs");
  }
  if (!tensor.is_constant && !tensor.quantization->per_tensor()) {
    return InvalidArgs("input '", port.name, "' ('", tensor.name,
                       "') has several scales; a computed one has one");
  }
  return MaceStatus();
}

}  // namespace

const QuantizedChecks kQuantizedChecks = {&CheckDef, &CheckInput};

}  // namespace mace
