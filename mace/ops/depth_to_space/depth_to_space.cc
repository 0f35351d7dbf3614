// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/depth_to_space/channel_shuffle_schema.h"
#include "mace/ops/depth_to_space/depth_to_space_schema.h"
#include "mace/ops/depth_to_space/space_to_depth_schema.h"

namespace mace {

MaceStatus InferDepthToSpaceShapes(const DepthToSpaceAttributes &attributes,
                                   ShapeContext *context) {
  const Tensor &input = *context->input(kDepthToSpaceInputInput);
  const Shape &shape = input.shape;
  const int64_t block = attributes.block;
  if (shape.rank() != 4 || shape[3] % (block * block) != 0) {
    return InvalidArgs(
        "expects [N, H, W, C] with C divisible by block * block = ",
        block * block, ", not ", shape.ToString());
  }
  return SetOutput(context, 0,
                   {shape[0], shape[1] * block, shape[2] * block,
                    shape[3] / (block * block)},
                   input.data_type);
}

MaceStatus InferSpaceToDepthShapes(const SpaceToDepthAttributes &attributes,
                                   ShapeContext *context) {
  const Tensor &input = *context->input(kSpaceToDepthInputInput);
  const Shape &shape = input.shape;
  const int64_t block = attributes.block;
  if (shape.rank() != 4 || shape[1] % block != 0 || shape[2] % block != 0) {
    return InvalidArgs(
        "expects [N, H, W, C] with H and W divisible by block = ", block,
        ", not ", shape.ToString());
  }
  return SetOutput(
      context, 0,
      {shape[0], shape[1] / block, shape[2] / block, shape[3] * block * block},
      input.data_type);
}

MaceStatus InferChannelShuffleShapes(const ChannelShuffleAttributes &attributes,
                                     ShapeContext *context) {
  const Tensor *input = context->input(kChannelShuffleInputInput);
  if (input->shape.rank() != 4 || input->shape[3] % attributes.groups != 0) {
    return InvalidArgs("expects [N, H, W, C] with C divisible by groups = ",
                       attributes.groups, ", not ", input->shape.ToString());
  }
  return SetOutput(context, 0, input->shape, input->data_type);
}

}  // namespace mace
