// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/space_to_depth/space_to_depth_schema.h"

namespace mace {

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

}  // namespace mace
