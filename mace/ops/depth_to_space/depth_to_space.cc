// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/depth_to_space/depth_to_space_schema.h"

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

}  // namespace mace
