// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_OPS_OPENCL_OP_JOIN_H_
#define MACE_OPS_OPENCL_OP_JOIN_H_

#include <cstdint>
#include <vector>

#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {

// Joins all inputs, each [outer, its length, inner], along the axis of the
// output: [outer, axis, inner]. `inner` is the number of elements.
// `lengths[i]` is that of input i.
void AddJoin(const std::vector<int64_t> &lengths,
             int64_t inner,
             OpenclPlanContext *context);

}  // namespace mace

#endif  // MACE_OPS_OPENCL_OP_JOIN_H_
