// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/instance_norm/instance_norm_schema.h"
#include "mace/ops/shape_rules/fused_activation_rule.h"

namespace mace {

MaceStatus InferInstanceNormShapes(const InstanceNormAttributes &attributes,
                                   ShapeContext *context) {
  MACE_RETURN_IF_ERROR(CheckFusedActivation(attributes.activation));
  const Tensor *input = context->input(kInstanceNormInputInput);
  const Shape &shape = input->shape;
  const Shape &scale = context->input(kInstanceNormScaleInput)->shape;
  const Shape &offset = context->input(kInstanceNormOffsetInput)->shape;
  if (shape.rank() < 3) {
    return InvalidArgs("expects [N, ..., C] of at least 3 dimensions, not ",
                       shape.ToString());
  }
  const Shape channels = {shape.back()};
  if (scale != channels || offset != channels) {
    return InvalidArgs("scale has the shape ", scale.ToString(), ", offset ",
                       offset.ToString(), "; both must have ",
                       channels.ToString(), " for an input of shape ",
                       shape.ToString());
  }
  return SetOutput(context, 0, shape, input->data_type);
}

}  // namespace mace
