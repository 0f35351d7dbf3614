// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/shape_rules/region_shapes.h"

namespace mace {

MaceStatus CountRegions(const Tensor &input,
                        const Tensor &regions,
                        const Tensor *images,
                        int64_t *count) {
  const Shape &shape = regions.shape;
  if (input.shape.rank() != 4) {
    return InvalidArgs("the input has the shape ", input.shape.ToString(),
                       "; it must be [N, H, W, C]");
  }
  if (shape.rank() == 0 || shape.back() != 4) {
    return InvalidArgs("regions have the shape ", shape.ToString(),
                       "; it must be [..., 4]");
  }
  *count = shape.Elements(0, shape.rank() - 1);
  if (images != nullptr && images->elements() != *count) {
    return InvalidArgs("images have the shape ", images->shape.ToString(),
                       ", but there are ", *count, " regions");
  }
  return MaceStatus();
}

}  // namespace mace
