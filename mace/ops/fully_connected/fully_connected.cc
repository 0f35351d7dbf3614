// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/fully_connected/fully_connected_schema.h"
#include "mace/ops/shape_rules/shape_rules.h"

namespace mace {

MaceStatus InferFullyConnectedShapes(const FullyConnectedAttributes &attributes,
                                     ShapeContext *context) {
  MACE_RETURN_IF_ERROR(CheckFusedActivation(attributes.activation));
  const Shape &input = context->input(kFullyConnectedInputInput)->shape;
  const Tensor &weights = *context->input(kFullyConnectedWeightsInput);
  const Tensor *bias = context->input(kFullyConnectedBiasInput);
  if (weights.shape.rank() != 2 || weights.shape.Elements() == 0 ||
      weights.groups != 1) {
    return InvalidArgs("weights have shape ", weights.shape.ToString(),
                       " packed for ", weights.groups,
                       " group(s); expected [O, K], none of them 0, packed "
                       "for 1 group");
  }
  if (bias != nullptr && bias->shape != Shape{weights.shape[0]}) {
    return InvalidArgs("bias has shape ", bias->shape.ToString(),
                       "; expected [", weights.shape[0], "]");
  }
  if (input.rank() == 0 || input.back() != weights.shape[1]) {
    return InvalidArgs("input has shape ", input.ToString(),
                       " but the weights ", weights.shape.ToString(),
                       " take [..., ", weights.shape[1], "]");
  }
  Shape output = input;
  output[output.rank() - 1] = weights.shape[0];
  const Tensor *residual = context->input(kFullyConnectedResidualInput);
  if (residual != nullptr && residual->shape != output) {
    return InvalidArgs("residual has shape ", residual->shape.ToString(),
                       " but the output ", output.ToString());
  }
  return SetOutput(context, kFullyConnectedOutputOutput, output,
                   DataType::kFloat32);
}

}  // namespace mace
