// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "mace/ops/dequantize/dequantize_schema.h"
#include "mace/ops/shape_rules/quantization_shapes.h"

namespace mace {

MaceStatus InferDequantizeShapes(const DequantizeAttributes &attributes,
                                 ShapeContext *context) {
  const Tensor &input = *context->input(kDequantizeInputInput);
  const Tensor &scale = *context->input(kDequantizeScaleInput);
  const std::string problem = QuantizationProblem(
      input.shape, scale, context->input(kDequantizeZeroPointInput),
      input.data_type, attributes.axis);
  if (!problem.empty()) return InvalidArgs(problem);
  return SetOutput(context, 0, input.shape, DataType::kFloat32);
}

}  // namespace mace
