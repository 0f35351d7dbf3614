// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/dynamic_quantize_matmul/dynamic_quantize_matmul_schema.h"
#include "mace/ops/shape_rules/fused_activation_rule.h"

namespace mace {
namespace {

// `values` may be null.
MaceStatus CheckColumns(const Tensor *values,
                        const char *which,
                        int64_t columns) {
  if (values == nullptr) return MaceStatus();
  const bool one = values->elements() == 1 && values->shape.rank() <= 1;
  if (one || values->shape == Shape{columns}) return MaceStatus();
  return InvalidArgs("the ", which, " of the weights have shape ",
                     values->shape.ToString(), "; expected one number or [",
                     columns, "]");
}

}  // namespace

MaceStatus InferDynamicQuantizeMatMulShapes(
    const DynamicQuantizeMatMulAttributes &attributes, ShapeContext *context) {
  MACE_RETURN_IF_ERROR(CheckFusedActivation(attributes.activation));
  const Shape &input = context->input(kDynamicQuantizeMatMulInputInput)->shape;
  const Tensor &weights = *context->input(kDynamicQuantizeMatMulWeightsInput);
  const Tensor *bias = context->input(kDynamicQuantizeMatMulBiasInput);
  if (weights.shape.rank() != 2 || weights.shape.Elements() == 0) {
    return InvalidArgs("weights have shape ", weights.shape.ToString(),
                       "; expected [K, N], none of them 0");
  }
  const int64_t columns = weights.shape[1];
  MACE_RETURN_IF_ERROR(
      CheckColumns(context->input(kDynamicQuantizeMatMulWeightScalesInput),
                   "scales", columns));
  MACE_RETURN_IF_ERROR(
      CheckColumns(context->input(kDynamicQuantizeMatMulWeightZeroPointsInput),
                   "zero points", columns));
  if (bias != nullptr && bias->shape != Shape{columns}) {
    return InvalidArgs("bias has shape ", bias->shape.ToString(),
                       "; expected [", columns, "]");
  }
  if (input.rank() == 0 || input.back() != weights.shape[0]) {
    return InvalidArgs("input has shape ", input.ToString(),
                       " but the weights ", weights.shape.ToString(),
                       " take [..., ", weights.shape[0], "]");
  }
  Shape output = input;
  output[output.rank() - 1] = columns;
  const Tensor *residual = context->input(kDynamicQuantizeMatMulResidualInput);
  if (residual != nullptr && residual->shape != output) {
    return InvalidArgs("residual has shape ", residual->shape.ToString(),
                       " but the output ", output.ToString());
  }
  return SetOutput(context, kDynamicQuantizeMatMulOutputOutput, output,
                   DataType::kFloat32);
}

}  // namespace mace
