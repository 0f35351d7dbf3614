// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// One row of an image of 8-bit integers that is resized with weighted sums:
//
//   S = sum over r, c of row_weights[r] * weights[x, c]
//           * (rows[r][first[x] + c] - x_zero)
//   y[x] = clamp(round(float(S) * scale) + zero, low, high)
//
// S is exact in int32, because the weights of an axis are not negative and
// their sum is kOne; float(S) and round are to the nearest, ties to even. These
// are the same bits on every instruction set.
//
// Elements are uint8 on x86 and int8 on ARM (gemm::kRowsUnsigned). The bytes of
// each tensor are combined with its mask (exclusive or), which makes another
// type of it.

#ifndef MACE_KERNELS_CPU_RESIZE_QUANTIZED_RESIZE_H_
#define MACE_KERNELS_CPU_RESIZE_QUANTIZED_RESIZE_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/isa.h"

namespace mace::resize {

// The number 1 in weights: 255 * kOne * kOne fits into int32.
inline constexpr int32_t kOne = 1 << 11;
// Along each axis.
inline constexpr size_t kMostTaps = 2;

struct QuantizedParams {
  uint8_t x_mask = 0;
  uint8_t y_mask = 0;
  int32_t x_zero = 0;
  float scale = 0.0f;
  int32_t zero = 0;
  int32_t low = 0;
  int32_t high = 0;
};

struct QuantizedRow {
  const uint8_t *rows[kMostTaps] = {};
  int32_t row_weights[kMostTaps] = {};
  size_t row_taps = 0;
  const int32_t *first = nullptr;    // [width], in pixels
  const int32_t *weights = nullptr;  // [width][taps]
  size_t taps = 0;
  size_t width = 0;  // pixels of the output
  size_t channels = 0;
  // Bytes from pixel to pixel.
  size_t x_stride = 0;
  size_t y_stride = 0;
};

struct QuantizedKernels {
  // y must not overlap the rows.
  void (*row)(const QuantizedParams &params,
              const QuantizedRow &row,
              uint8_t *y);
};
const QuantizedKernels *QuantizedKernelsFor(CpuIsa isa);

}  // namespace mace::resize

#endif  // MACE_KERNELS_CPU_RESIZE_QUANTIZED_RESIZE_H_
