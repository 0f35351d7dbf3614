// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Folds of floats: sums, products and extremes over rows or columns.

#ifndef MACE_KERNELS_CPU_REDUCE_REDUCE_H_
#define MACE_KERNELS_CPU_REDUCE_REDUCE_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/isa.h"

namespace mace::reduce {

enum class Fold : uint8_t { kSum, kMax, kMin, kProduct, kSumSquare };

// What `acc` starts from.
inline constexpr float Identity(Fold fold) {
  switch (fold) {
    case Fold::kMax:
      return -__builtin_inff();
    case Fold::kMin:
      return __builtin_inff();
    case Fold::kProduct:
      return 1.0f;
    default:
      return 0.0f;
  }
}

// NaN anywhere gives NaN. Sums run in stretches that are added up in turn, so
// that the error of n equal terms grows like n / 128 + 128 rather than n.
struct Kernels {
  // acc[c] = fold(acc[c], x[r * stride + c] for r < rows), c < columns.
  void (*rows)(Fold fold,
               const float *x,
               size_t stride,
               size_t rows,
               size_t columns,
               float *acc);
  // *acc = fold(*acc, x[i] for i < n).
  void (*row)(Fold fold, const float *x, size_t n, float *acc);
};

// Never null for an ISA other than CpuIsa::kNone.
const Kernels *KernelsFor(CpuIsa isa);

}  // namespace mace::reduce

#endif  // MACE_KERNELS_CPU_REDUCE_REDUCE_H_
