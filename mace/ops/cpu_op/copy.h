// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Copies of elements, for operators without arithmetic.

#ifndef MACE_OPS_CPU_OP_COPY_H_
#define MACE_OPS_CPU_OP_COPY_H_

#include <cstddef>
#include <cstdint>

#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {

// Copies input 0 to output 0, unless they are the same memory.
void CopyInputToOutput(RunContext *context);

// Copies `rows` runs of `bytes` bytes; run r from source + r * source_stride to
// target + r * target_stride. Source and target must not overlap.
struct RowCopy {
  const uint8_t *source = nullptr;
  int64_t source_stride = 0;
  uint8_t *target = nullptr;
  int64_t target_stride = 0;
  int64_t rows = 0;
  int64_t bytes = 0;
};
void CopyRows(ThreadPool *pool, const RowCopy &copy);

// Several copies with equal numbers of rows, row by row, so that a matrix that
// is joined from parts, or divided into parts, is traversed once. Parts whose
// source is their target are skipped.
inline constexpr size_t kMaxParts = 8;
void CopyParts(ThreadPool *pool, const RowCopy *parts, size_t count);

// An array of blocks in memory, in any order of axes and direction.
struct StridedView {
  size_t rank = 0;
  int64_t dims[Shape::kMaxRank] = {};
  int64_t strides[Shape::kMaxRank] = {};  // bytes; may be negative
  int64_t block = 0;                      // bytes of one element of the array
};

// Copies the view that starts at `source` into dense `target`.
void CopyStrided(ThreadPool *pool,
                 const StridedView &view,
                 const uint8_t *source,
                 uint8_t *target);

}  // namespace mace

#endif  // MACE_OPS_CPU_OP_COPY_H_
