// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/eltwise/broadcast.h"

namespace mace {

namespace {

// The length of the axis that is `back` axes from the innermost one; 1 if there
// is none.
int64_t DimFromBack(const Shape &shape, size_t back) {
  return back < shape.rank() ? shape[shape.rank() - 1 - back] : 1;
}

}  // namespace

BroadcastPlan PlanBroadcast(const Shape &a,
                            const Shape &b,
                            const Shape &output) {
  BroadcastPlan plan;
  int64_t a_stride[Shape::kMaxRank];
  int64_t b_stride[Shape::kMaxRank];
  int64_t a_next = 1;
  int64_t b_next = 1;
  for (size_t back = 0; back < output.rank(); ++back) {
    const size_t axis = output.rank() - 1 - back;
    const int64_t x = DimFromBack(a, back);
    const int64_t y = DimFromBack(b, back);
    a_stride[axis] = x == 1 ? 0 : a_next;
    b_stride[axis] = y == 1 ? 0 : b_next;
    a_next *= x;
    b_next *= y;
  }
  for (size_t axis = 0; axis < output.rank(); ++axis) {
    const int64_t dim = output[axis];
    if (dim == 1) continue;
    const size_t last = plan.rank - 1;
    if (plan.rank > 0 && plan.a_strides[last] == a_stride[axis] * dim &&
        plan.b_strides[last] == b_stride[axis] * dim) {
      plan.dims[last] *= dim;
      plan.a_strides[last] = a_stride[axis];
      plan.b_strides[last] = b_stride[axis];
      continue;
    }
    plan.dims[plan.rank] = dim;
    plan.a_strides[plan.rank] = a_stride[axis];
    plan.b_strides[plan.rank] = b_stride[axis];
    ++plan.rank;
  }
  return plan;
}

}  // namespace mace
