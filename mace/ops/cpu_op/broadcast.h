// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_OPS_CPU_OP_BROADCAST_H_
#define MACE_OPS_CPU_OP_BROADCAST_H_

#include <cstddef>
#include <cstdint>

#include "mace/core/base/shape.h"
#include "mace/core/base/thread_pool.h"
#include "mace/kernels/cpu/eltwise/eltwise.h"

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

// `output` is the result of BroadcastShapes (mace/ops/shape_rules). There is at
// least one axis, even for single elements.
BroadcastPlan PlanBroadcast(const Shape &a,
                            const Shape &b,
                            const Shape &output);

// Where a matrix of results begins, in elements of each tensor.
struct BroadcastOffsets {
  int64_t a;
  int64_t b;
  int64_t output;
};

// A function of such a matrix, which is not copied.
struct ComputeRows {
  const void *function;
  void (*call)(const void *function,
               const eltwise::Rows &rows,
               const BroadcastOffsets &offsets);
};
void ForBroadcastRows(const BroadcastPlan &loops,
                      int64_t elements,
                      ThreadPool *pool,
                      const ComputeRows &compute);

// Calls compute(rows, offsets) for matrices of results that together are all
// `elements` of the output, divided among the threads.
template <typename Function>
void ForBroadcastRows(const BroadcastPlan &loops,
                      int64_t elements,
                      ThreadPool *pool,
                      const Function &compute) {
  const ComputeRows rows = {
      &compute, [](const void *function, const eltwise::Rows &matrix,
                   const BroadcastOffsets &offsets) {
        (*static_cast<const Function *>(function))(matrix, offsets);
      }};
  ForBroadcastRows(loops, elements, pool, rows);
}

}  // namespace mace

#endif  // MACE_OPS_CPU_OP_BROADCAST_H_
