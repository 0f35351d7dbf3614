// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Depthwise convolution of int16, one output for each channel, with the
// arithmetic of int16_gemm.h: the same bits on every instruction set.
//
// Vectors run over channels. Pixels and weights are read in place.

#ifndef MACE_KERNELS_CPU_DWCONV_INT16_DWCONV_H_
#define MACE_KERNELS_CPU_DWCONV_INT16_DWCONV_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/conv/conv.h"
#include "mace/kernels/cpu/isa.h"

namespace mace::dwconv {

struct Int16Args {
  // in_c, out_c and groups are equal.
  conv::Shape shape;
  const int16_t *input = nullptr;  // [batch][in_h][in_w][in_c]
  const int8_t *filter = nullptr;  // [kernel_h][kernel_w][in_c]
  int16_t *output = nullptr;
  ptrdiff_t output_stride = 0;  // elements from pixel to pixel
  const gemm::Requantization16 *requantization = nullptr;
  int16_t padding = 0;  // of each pixel outside the image
};

struct Int16Kernels {
  // Rows [begin, end) of all rows of all images.
  void (*run)(const Int16Args &args, ptrdiff_t begin, ptrdiff_t end);
};

// Never null for an ISA other than CpuIsa::kNone.
const Int16Kernels *Int16KernelsFor(CpuIsa isa);

}  // namespace mace::dwconv

#endif  // MACE_KERNELS_CPU_DWCONV_INT16_DWCONV_H_
