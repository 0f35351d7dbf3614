// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Resizes float images with weighted sums, one axis after the other: a row of
// the input becomes a row of output width (`pixels` or `elements`), and several
// of these become a row of the output (`blend`). An input row is resized once,
// however many output rows need it, and all loops except the first use whole
// vectors for any number of channels.
//
// Along an axis of n elements, output x is the sum over k < taps of
//   weights[x, k] * input[first[x] + k],   0 <= first[x] <= n - taps.
// Inputs and outputs must not overlap.

#ifndef MACE_KERNELS_CPU_RESIZE_RESIZE_H_
#define MACE_KERNELS_CPU_RESIZE_RESIZE_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/isa.h"

namespace mace::resize {

// Tables and rows for `elements` are padded to a multiple of this number of
// elements.
inline constexpr size_t kElementBlock = 16;

// A row of pixels with `channels` elements each.
struct PixelRow {
  const float *input = nullptr;
  size_t pixel_stride = 0;  // elements from one input pixel to the next
  size_t channels = 0;
  size_t width = 0;                // pixels of the output
  const int32_t *first = nullptr;  // [width]
  const float *weights = nullptr;  // [width][taps]
  size_t taps = 0;
};

// The same with one table entry per element of the output, for pixels smaller
// than a vector.
struct ElementRow {
  const float *input = nullptr;
  size_t tap_stride = 0;           // elements from tap to tap: the channels
  size_t count = 0;                // a multiple of kElementBlock
  const int32_t *first = nullptr;  // [count], in elements
  const float *weights = nullptr;  // [taps][count]
  size_t taps = 0;
};

struct Kernels {
  // Floats in a vector: with fewer channels than this, `elements` is faster.
  size_t lanes;
  // width * channels elements.
  void (*pixels)(const PixelRow &row, float *out);
  // row.count elements.
  void (*elements)(const ElementRow &row, float *out);
  // out[i] = sum over k < taps of weights[k] * rows[k][i], i < count.
  void (*blend)(const float *const *rows,
                const float *weights,
                size_t taps,
                size_t count,
                float *out);
};

// Never null for an ISA other than CpuIsa::kNone.
const Kernels *KernelsFor(CpuIsa isa);

}  // namespace mace::resize

#endif  // MACE_KERNELS_CPU_RESIZE_RESIZE_H_
