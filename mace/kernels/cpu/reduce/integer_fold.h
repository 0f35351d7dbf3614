// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Reductions of int32 over rows, in 64 bits. Their low bits are those of a
// reduction that wraps around.

#ifndef MACE_KERNELS_CPU_REDUCE_INTEGER_FOLD_H_
#define MACE_KERNELS_CPU_REDUCE_INTEGER_FOLD_H_

#include <cstdint>

#include "mace/kernels/cpu/reduce/reduce.h"

namespace mace::reduce {

class IntegerFold {
 public:
  static constexpr int64_t kMostColumns = 256;

  explicit IntegerFold(Fold fold);

  // results[c] = fold(results[c], x[r * stride + c] for r < rows), c < columns.
  void Rows(const int32_t *x, int64_t stride, int64_t rows, int64_t columns);

  // Whether int32 holds all results.
  bool Store(int64_t columns, int32_t *y) const;

 private:
  Fold fold_;
  int64_t results_[kMostColumns];
  bool exceeds_[kMostColumns] = {};  // 64 bits
};

}  // namespace mace::reduce

#endif  // MACE_KERNELS_CPU_REDUCE_INTEGER_FOLD_H_
