// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/batch_norm/batch_norm_schema.h"
#include "mace/ops/shape_rules/fused_activation_rule.h"

namespace mace {

MaceStatus InferBatchNormShapes(const BatchNormAttributes &attributes,
                                ShapeContext *context) {
  MACE_RETURN_IF_ERROR(CheckFusedActivation(attributes.activation));
  const Tensor *input = context->input(kBatchNormInputInput);
  const Shape &scale = context->input(kBatchNormScaleInput)->shape;
  const Shape &offset = context->input(kBatchNormOffsetInput)->shape;
  if (input->shape.rank() == 0) return InvalidArgs("the input is a scalar");
  const Shape channels = {input->shape.back()};
  if (scale != channels || offset != channels) {
    return InvalidArgs("scale has the shape ", scale.ToString(), ", offset ",
                       offset.ToString(), "; both must have ",
                       channels.ToString(), " for an input of shape ",
                       input->shape.ToString());
  }
  return SetOutput(context, 0, input->shape, input->data_type);
}

}  // namespace mace
