// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_OPS_ELTWISE_BROADCAST_H_
#define MACE_OPS_ELTWISE_BROADCAST_H_

#include <cstddef>
#include <cstdint>

#include "mace/core/base/shape.h"

namespace mace {

// The loops over two operands that broadcast, with as few axes as possible:
// axes of length 1 are removed, and adjacent axes are joined if both operands
// step through them in the same way. Strides count elements; 0 repeats the
// operand.
struct BroadcastPlan {
  size_t rank = 0;
  int64_t dims[Shape::kMaxRank] = {};
  int64_t a_strides[Shape::kMaxRank] = {};
  int64_t b_strides[Shape::kMaxRank] = {};
};

// `output` is the result of BroadcastShapes (mace/ops/shape_rules).
BroadcastPlan PlanBroadcast(const Shape &a,
                            const Shape &b,
                            const Shape &output);

}  // namespace mace

#endif  // MACE_OPS_ELTWISE_BROADCAST_H_
