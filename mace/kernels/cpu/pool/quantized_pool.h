// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// One output pixel of a pooling of 8-bit integers over NHWC:
//
//   S = sum over the window of (x - x_zero), or the largest x - x_zero
//   y = clamp(round(float(S) * scale) + zero, low, high)
//
// S is exact in int32; float(S) and round are to the nearest, ties to even.
// These are the same bits on every instruction set.
//
// Elements are uint8 on x86 and int8 on ARM (kUnsignedBytes). The bytes of
// each tensor are combined with its mask (exclusive or), which makes another
// type of it.

#ifndef MACE_KERNELS_CPU_POOL_QUANTIZED_POOL_H_
#define MACE_KERNELS_CPU_POOL_QUANTIZED_POOL_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/isa.h"
#include "mace/kernels/cpu/pool/pool.h"

namespace mace::pool {

struct QuantizedParams {
  uint8_t x_mask = 0;
  uint8_t y_mask = 0;
  int32_t x_zero = 0;
  float scale = 0.0f;
  int32_t zero = 0;
  int32_t low = 0;
  int32_t high = 0;
};

// Writes `channels` elements to `y`, which must not overlap the image.
using QuantizedFunction = void (*)(const QuantizedParams &params,
                                   const Window &window,
                                   size_t channels,
                                   uint8_t *y);
struct QuantizedKernels {
  QuantizedFunction max;
  QuantizedFunction sum;
};
const QuantizedKernels *QuantizedKernelsFor(CpuIsa isa);

}  // namespace mace::pool

#endif  // MACE_KERNELS_CPU_POOL_QUANTIZED_POOL_H_
