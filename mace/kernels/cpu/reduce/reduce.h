// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Reductions of floats: sums, products and extremes over rows or columns.

#ifndef MACE_KERNELS_CPU_REDUCE_REDUCE_H_
#define MACE_KERNELS_CPU_REDUCE_REDUCE_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/isa.h"

namespace mace::reduce {

enum class Fold : uint8_t { kSum, kMax, kMin, kProduct, kSumSquare };

// The initial value of `acc`.
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

// NaN anywhere gives NaN. Sums are computed in blocks, whose results are then
// added, so that the error of n equal terms grows with n / 128 + 128 instead of
// n.
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
