// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "mace/ops/quantize/quantize_schema.h"
#include "mace/ops/shape_rules/quantization_shapes.h"

namespace mace {
namespace {

DataType TypeOf(QuantizeTo to) {
  switch (to) {
    case QuantizeTo::UINT8:
      return DataType::kUint8;
    case QuantizeTo::INT8:
      return DataType::kInt8;
    case QuantizeTo::INT16:
      break;
  }
  return DataType::kInt16;
}

}  // namespace

MaceStatus InferQuantizeShapes(const QuantizeAttributes &attributes,
                               ShapeContext *context) {
  const Shape &shape = context->input(kQuantizeInputInput)->shape;
  const Tensor &scale = *context->input(kQuantizeScaleInput);
  const DataType type = TypeOf(attributes.to);
  const std::string problem =
      QuantizationProblem(shape, scale, context->input(kQuantizeZeroPointInput),
                          type, attributes.axis);
  if (!problem.empty()) return InvalidArgs(problem);
  return SetOutput(context, 0, shape, type);
}

}  // namespace mace
