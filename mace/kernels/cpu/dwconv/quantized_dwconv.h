// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Depthwise convolution of 8-bit integers, one output for each channel, with
// the arithmetic of quantized_gemm.h: the same bits on every instruction set.
//
// Vectors run over channels, and each lane multiplies four adjacent pixels of a
// row at once, which are put side by side once for all rows of the output that
// read them. Where the stride is 1, two adjacent outputs use the same four
// pixels, with their weights in other places. Most 3x3 filters on ARM are
// computed without that copy (quantized_columns.h).

#ifndef MACE_KERNELS_CPU_DWCONV_QUANTIZED_DWCONV_H_
#define MACE_KERNELS_CPU_DWCONV_QUANTIZED_DWCONV_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/conv/conv.h"
#include "mace/kernels/cpu/isa.h"

namespace mace::dwconv {

struct QuantizedArgs {
  // in_c, out_c and groups are equal.
  conv::Shape shape;
  const uint8_t *input = nullptr;  // [batch][in_h][in_w][in_c]
  const int8_t *filter = nullptr;  // what PackQuantizedFilter wrote
  uint8_t *output = nullptr;
  ptrdiff_t output_stride = 0;  // elements from pixel to pixel
  const gemm::Requantization *requantization = nullptr;
  uint8_t padding = 0;  // of each pixel outside the image
};

struct QuantizedKernels {
  const char *name;  // for reports
  // Channels that are computed together.
  ptrdiff_t block;
  // Whether they read weights as int16.
  bool widened;
  // Rows [begin, end) of all rows of all images. `scratch` has
  // QuantizedScratchBytes and is aligned to 64.
  void (*run)(const QuantizedArgs &args,
              ptrdiff_t begin,
              ptrdiff_t end,
              void *scratch);
};

const QuantizedKernels *QuantizedKernelsFor(CpuIsa isa);

// Of one thread; the height of the image makes no difference.
size_t QuantizedScratchBytes(const conv::Shape &shape,
                             const QuantizedKernels &kernels);
// Of a filter for such a shape.
size_t PackedFilterBytes(const conv::Shape &shape,
                         const QuantizedKernels &kernels);
// Element (tap, channel) of the filter is at
// weights[tap * tap_stride + channel * channel_stride]; taps by row.
struct DepthwiseFilter {
  const int8_t *weights = nullptr;
  ptrdiff_t tap_stride = 0;
  ptrdiff_t channel_stride = 0;
};
void PackQuantizedFilter(const conv::Shape &shape,
                         const DepthwiseFilter &filter,
                         const QuantizedKernels &kernels,
                         int8_t *to);

// Writes each of `count` elements `times` times: a channel for each of its
// outputs.
void RepeatElements(const uint8_t *from,
                    ptrdiff_t count,
                    ptrdiff_t times,
                    uint8_t *to);

}  // namespace mace::dwconv

#endif  // MACE_KERNELS_CPU_DWCONV_QUANTIZED_DWCONV_H_
