// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Softmax of rows of 8-bit integers:
//
//   k = max - x                                0 to 255, of each row
//   m = float(1 / (double(sum of exponentials[k]) * scale))
//   y = clamp(round(float(exponentials[k]) * m) + zero, low, high)
//
// The sum is exact; there is one division for each row. Rounding is to the
// nearest, ties to even. These are the same bits on every instruction set.
//
// Elements are uint8 on x86 and int8 on ARM (kUnsignedBytes). The bytes of
// the output are combined with its mask (exclusive or), which makes another
// type of it; those of the input become uint8 by theirs.

#ifndef MACE_KERNELS_CPU_SOFTMAX_QUANTIZED_SOFTMAX_H_
#define MACE_KERNELS_CPU_SOFTMAX_QUANTIZED_SOFTMAX_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/isa.h"

namespace mace::softmax {

struct QuantizedParams {
  const int32_t *exponentials = nullptr;  // 256, each at most 2^30
  double scale = 0.0;                     // of the results
  uint8_t x_mask = 0;
  uint8_t y_mask = 0;
  int32_t zero = 0;
  int32_t low = 0;
  int32_t high = 0;
};

// x, y are [rows][n], n > 0. y may be x.
using QuantizedFunction = void (*)(const QuantizedParams &params,
                                   const uint8_t *x,
                                   uint8_t *y,
                                   size_t rows,
                                   size_t n);
struct QuantizedKernels {
  QuantizedFunction rows;
};
const QuantizedKernels *QuantizedKernelsFor(CpuIsa isa);

}  // namespace mace::softmax

#endif  // MACE_KERNELS_CPU_SOFTMAX_QUANTIZED_SOFTMAX_H_
