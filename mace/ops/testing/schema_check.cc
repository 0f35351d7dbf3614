// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>

#include "mace/ops/testing/op_runner.h"

namespace mace::op_test {

namespace {

const PortSchema *PortOf(const PortSchema *ports, size_t count, size_t index) {
  if (index < count) return &ports[index];
  return count > 0 && ports[count - 1].variadic ? &ports[count - 1] : nullptr;
}

std::string InputProblem(const PortSchema &port,
                         bool quantized,
                         const CaseInput &input) {
  if (input.kind == CaseInput::Kind::kAbsent) {
    return port.optional ? "" : "is not optional";
  }
  if ((PortTypes(port, quantized) & DataTypeBit(input.value.data_type)) == 0) {
    return MakeString("does not take ", DataTypeName(input.value.data_type));
  }
  const bool constant = input.kind == CaseInput::Kind::kConstant;
  if (port.constant && !constant) return "must be a constant";
  if ((LayoutBit(input.layout) & PortLayouts(port, quantized)) == 0) {
    return IsPacked(input.layout) ? "must not be packed so" : "must be packed";
  }
  return "";
}

}  // namespace

MaceStatus CheckAgainstSchema(const OpSchema &schema, const OpCase &op_case) {
  std::string problems;
  const auto add = [&problems](const std::string &problem) {
    if (!problems.empty()) problems += "; ";
    problems += problem;
  };
  for (size_t i = 0; i < op_case.inputs.size(); ++i) {
    const PortSchema *port = PortOf(schema.inputs, schema.input_count, i);
    if (port == nullptr) {
      add(MakeString("input ", i, " does not exist"));
      continue;
    }
    const std::string problem = InputProblem(
        *port, IsQuantized(schema, op_case.def), op_case.inputs[i]);
    if (!problem.empty()) add(MakeString("input ", port->name, " ", problem));
  }
  for (size_t i = op_case.inputs.size(); i < schema.input_count; ++i) {
    if (!schema.inputs[i].optional) {
      add(MakeString("input ", schema.inputs[i].name, " is missing"));
    }
  }
  for (size_t i = 0; i < op_case.outputs; ++i) {
    if (PortOf(schema.outputs, schema.output_count, i) == nullptr) {
      add(MakeString("output ", i, " does not exist"));
    }
  }
  if (op_case.outputs < schema.output_count) {
    add(MakeString("has ", op_case.outputs, " outputs, not ",
                   schema.output_count));
  }
  for (const AttributeValue &attribute : op_case.def.attributes) {
    AttributeSchema known = {};
    const char *entry = schema.attributes;
    size_t i = 0;
    for (; i < schema.attribute_count; ++i) {
      known = ReadAttribute(&entry);
      if (attribute.name == known.name) break;
    }
    if (i == schema.attribute_count) {
      add(MakeString("attribute '", attribute.name, "' is not declared"));
    } else if (known.kind != attribute.kind) {
      add(MakeString("attribute '", attribute.name, "' has another kind"));
    }
  }
  if (problems.empty()) return MaceStatus();
  return InvalidArgs("operator '", op_case.def.name, "' (", op_case.def.type,
                     "): ", problems);
}

}  // namespace mace::op_test
