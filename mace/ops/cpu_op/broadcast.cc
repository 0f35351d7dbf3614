// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/cpu_op/broadcast.h"

#include <algorithm>

#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {

namespace {

// The length of the axis that is `back` axes from the innermost one; 1 if there
// is none.
int64_t DimFromBack(const Shape &shape, size_t back) {
  return back < shape.rank() ? shape[shape.rank() - 1 - back] : 1;
}

// Rows [begin, end) of the loops, columns [column, column + columns).
struct Range {
  int64_t begin;
  int64_t end;
  int64_t column;
  int64_t columns;
};

void RunRange(const BroadcastPlan &loops,
              const Range &range,
              const ComputeRows &compute) {
  const size_t last = loops.rank - 1;
  const int64_t width = loops.dims[last];
  // Consecutive rows of the second-to-last axis are computed by one call.
  const bool has_rows = loops.rank > 1;
  const int64_t run = has_rows ? loops.dims[last - 1] : 1;
  eltwise::Rows rows;
  rows.columns = static_cast<size_t>(range.columns);
  rows.a_scalar = loops.a_strides[last] == 0;
  rows.b_scalar = loops.b_strides[last] == 0;
  rows.a_row_stride =
      static_cast<ptrdiff_t>(has_rows ? loops.a_strides[last - 1] : 0);
  rows.b_row_stride =
      static_cast<ptrdiff_t>(has_rows ? loops.b_strides[last - 1] : 0);
  for (int64_t row = range.begin; row < range.end;) {
    const int64_t in_run = row % run;
    const int64_t count = std::min(run - in_run, range.end - row);
    int64_t rest = row / run;
    BroadcastOffsets at;
    at.a = in_run * rows.a_row_stride + range.column * loops.a_strides[last];
    at.b = in_run * rows.b_row_stride + range.column * loops.b_strides[last];
    at.output = row * width + range.column;
    for (size_t i = has_rows ? last - 1 : 0; i-- > 0;) {
      at.a += rest % loops.dims[i] * loops.a_strides[i];
      at.b += rest % loops.dims[i] * loops.b_strides[i];
      rest /= loops.dims[i];
    }
    rows.rows = static_cast<size_t>(count);
    compute.call(compute.function, rows, at);
    row += count;
  }
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
  if (plan.rank == 0) {
    plan.rank = 1;  // one element
    plan.dims[0] = 1;
    plan.a_strides[0] = plan.b_strides[0] = 1;
  }
  return plan;
}

void ForBroadcastRows(const BroadcastPlan &loops,
                      int64_t elements,
                      ThreadPool *pool,
                      const ComputeRows &compute) {
  if (elements == 0) return;
  const int64_t width = loops.dims[loops.rank - 1];
  const int64_t rows = elements / width;
  const int64_t block = std::min(width, kElementGrain);
  const int64_t blocks = (width + block - 1) / block;
  pool->ParallelFor(
      rows * blocks, blocks > 1 ? 1 : RowGrain(width),
      [&](int64_t begin, int64_t end, int /*thread*/) {
        if (blocks == 1) {
          RunRange(loops, {begin, end, 0, width}, compute);
          return;
        }
        for (int64_t item = begin; item < end; ++item) {
          const int64_t row = item / blocks;
          const int64_t column = item % blocks * block;
          RunRange(loops,
                   {row, row + 1, column, std::min(block, width - column)},
                   compute);
        }
      });
}

}  // namespace mace
