// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// One output pixel of a pooling of int16 over NHWC:
//
//   S = sum over the window of (x - x_zero), or the largest x - x_zero
//   y = clamp(round(S * scale) + zero, low, high)
//
// S is exact for a window of at most kMostInt16Elements; the product with the
// scale is of float64, and round is to the nearest, ties to even. These are the
// same bits on every instruction set.

#ifndef MACE_KERNELS_CPU_POOL_INT16_POOL_H_
#define MACE_KERNELS_CPU_POOL_INT16_POOL_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/isa.h"
#include "mace/kernels/cpu/pool/pool.h"

namespace mace::pool {

// So that sums of them do not exceed int32.
inline constexpr int64_t kMostInt16Elements = INT32_MAX / 32768;

struct Int16Params {
  int32_t x_zero = 0;
  double scale = 0.0;
  int32_t zero = 0;
  int32_t low = 0;
  int32_t high = 0;
};

// Writes `channels` elements to `y`, which must not overlap the image. Strides
// and the first element of the window are those of int16.
using Int16Function = void (*)(const Int16Params &params,
                               const Window &window,
                               size_t channels,
                               int16_t *y);
struct Int16Kernels {
  Int16Function max;
  Int16Function sum;
};
// Never null for an ISA other than CpuIsa::kNone.
const Int16Kernels *Int16KernelsFor(CpuIsa isa);

}  // namespace mace::pool

#endif  // MACE_KERNELS_CPU_POOL_INT16_POOL_H_
