// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/model/quantized_checks.h"

#include "mace/core/model/model.h"

namespace mace {
namespace {

MaceStatus CheckInput(const OpSchema &schema,
                      size_t index,
                      const Tensor &tensor) {
  const PortSchema &port =
      PortSchemaAt(schema.inputs, schema.input_count, index);
  const uint32_t types = PortTypes(port, true);
  if (types == port.data_types) return MaceStatus();
  if (types == 0) {
    return InvalidArgs("a quantized operator has no input '", port.name, "' ('",
                       tensor.name, "')");
  }
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

const QuantizedChecks kQuantizedChecks = {&CheckInput};

}  // namespace mace
