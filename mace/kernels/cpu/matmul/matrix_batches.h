// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The batch dimensions of a matrix product, [..., M, K] by [..., K, N], which
// broadcast as in NumPy.

#ifndef MACE_KERNELS_CPU_MATMUL_MATRIX_BATCHES_H_
#define MACE_KERNELS_CPU_MATMUL_MATRIX_BATCHES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "mace/core/base/shape.h"

namespace mace::matmul {

// The batch dimensions of both operands, and the step of each operand per
// dimension.
struct MatrixBatches {
  size_t rank = 0;
  int64_t dims[Shape::kMaxRank] = {};
  int64_t a_step[Shape::kMaxRank] = {};  // in matrices; 0 where broadcast
  int64_t b_step[Shape::kMaxRank] = {};
  int64_t count = 1;
  bool b_shared = true;  // every batch multiplies the same B
};

// Returns false if the dimensions do not broadcast. Both operands have at least
// two dimensions.
inline bool BroadcastMatrices(const Shape &a,
                              const Shape &b,
                              MatrixBatches *batches) {
  const size_t a_rank = a.rank() - 2;
  const size_t b_rank = b.rank() - 2;
  *batches = MatrixBatches();
  batches->rank = std::max(a_rank, b_rank);
  int64_t a_size = 1;
  int64_t b_size = 1;
  for (size_t i = batches->rank; i-- > 0;) {
    const size_t from_end = batches->rank - i;
    const int64_t x = from_end <= a_rank ? a[a_rank - from_end] : 1;
    const int64_t y = from_end <= b_rank ? b[b_rank - from_end] : 1;
    if (x != y && x != 1 && y != 1) return false;
    batches->dims[i] = x == 1 ? y : x;
    batches->a_step[i] = x == 1 ? 0 : a_size;
    batches->b_step[i] = y == 1 ? 0 : b_size;
    a_size *= x;
    b_size *= y;
    batches->count *= batches->dims[i];
  }
  batches->b_shared = b_size == 1;
  return true;
}

// The index of the operand's matrix for batch `index`; `step` is that operand's
// step.
inline int64_t MatrixOfBatch(const MatrixBatches &batches,
                             const int64_t *step,
                             int64_t index) {
  int64_t matrix = 0;
  for (size_t i = batches.rank; i-- > 0;) {
    matrix += index % batches.dims[i] * step[i];
    index /= batches.dims[i];
  }
  return matrix;
}

}  // namespace mace::matmul

#endif  // MACE_KERNELS_CPU_MATMUL_MATRIX_BATCHES_H_
