// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Images of 8-bit integers that are resized with weighted sums, one axis after
// the other: a row of the input becomes a row of output width (`columns`), and
// one or two of these become a row of the output (`blend`):
//
//   h[x, i] = sum over c of weights[x, c] * row[first[x] + c, i]
//   S = sum over r of row_weights[r] * (h[r] - kOne * x_zero)
//   y = clamp(round(float(S) * scale) + zero, low, high)
//
// S is exact in int32, because the weights of an axis are not negative and
// their sum is kOne; float(S) and round are to the nearest, ties to even. These
// are the same bits on every instruction set.
//
// Elements are uint8 on x86 and int8 on ARM (kUnsignedBytes). The bytes of
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
  uint8_t y_mask = 0;
  int32_t x_zero = 0;
  float scale = 0.0f;
  int32_t zero = 0;
  int32_t low = 0;
  int32_t high = 0;
};

struct QuantizedColumns {
  const int32_t *first = nullptr;    // [width], in pixels
  const int32_t *weights = nullptr;  // [width][taps]
  size_t taps = 0;
  size_t width = 0;  // pixels of the output
  size_t channels = 0;
  size_t x_stride = 0;  // bytes from pixel to pixel of the input
};

struct QuantizedKernels {
  // h is [width][channels].
  void (*columns)(const QuantizedColumns &columns,
                  uint8_t x_mask,
                  const uint8_t *row,
                  int32_t *h);
  // `count` elements; of one row, rows[1] is null.
  void (*blend)(const QuantizedParams &params,
                const int32_t *const *rows,
                const int32_t *row_weights,
                size_t count,
                uint8_t *y);
};
const QuantizedKernels *QuantizedKernelsFor(CpuIsa isa);

}  // namespace mace::resize

#endif  // MACE_KERNELS_CPU_RESIZE_QUANTIZED_RESIZE_H_
