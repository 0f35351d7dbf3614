// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/normalization/batch_norm_schema.h"
#include "mace/ops/normalization/instance_norm_schema.h"
#include "mace/ops/normalization/layer_norm_schema.h"
#include "mace/ops/normalization/local_response_norm_schema.h"
#include "mace/ops/shape_rules/shape_rules.h"

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

namespace {

// Checks the scale or the offset, which may be null.
MaceStatus Check(const char *name, const Tensor *tensor, const Shape &row) {
  if (tensor == nullptr || tensor->shape == row) return MaceStatus();
  return InvalidArgs(name, " has the shape ", tensor->shape.ToString(),
                     ", not that of a row of the input, ", row.ToString());
}

}  // namespace

MaceStatus InferLayerNormShapes(const LayerNormAttributes & /*attributes*/,
                                ShapeContext *context) {
  const Tensor *input = context->input(kLayerNormInputInput);
  const Shape &shape = input->shape;
  if (shape.rank() == 0) return InvalidArgs("the input is a scalar");
  const Shape row = {shape.back()};
  MACE_RETURN_IF_ERROR(
      Check("scale", context->input(kLayerNormScaleInput), row));
  MACE_RETURN_IF_ERROR(
      Check("offset", context->input(kLayerNormOffsetInput), row));
  return SetOutput(context, 0, shape, input->data_type);
}

MaceStatus InferLocalResponseNormShapes(
    const LocalResponseNormAttributes & /*attributes*/, ShapeContext *context) {
  const Tensor *input = context->input(kLocalResponseNormInputInput);
  const Shape &shape = input->shape;
  if (shape.rank() != 4) {
    return InvalidArgs("expects [N, H, W, C], not ", shape.ToString());
  }
  return SetOutput(context, 0, shape, input->data_type);
}

}  // namespace mace
