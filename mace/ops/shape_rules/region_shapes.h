// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_OPS_SHAPE_RULES_REGION_SHAPES_H_
#define MACE_OPS_SHAPE_RULES_REGION_SHAPES_H_

#include <cstdint>

#include "mace/core/base/status.h"
#include "mace/core/model/op.h"

namespace mace {

// For operators that read regions [..., 4] of images [N, H, W, C]: sets how
// many regions there are. `images` has the index of the image of each, and is
// null if all are of the first one. INVALID_ARGS for other shapes.
MaceStatus CountRegions(const Tensor &input,
                        const Tensor &regions,
                        const Tensor *images,
                        int64_t *count);

}  // namespace mace

#endif  // MACE_OPS_SHAPE_RULES_REGION_SHAPES_H_
