// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The packed filter of quantized_dwconv.h: for each block of channels
//
//   int8 [kernel_h][outputs][fours][4 vectors][block / 4][4]
//
// The last block begins such that it ends with the last channel, unless there
// is one block. `outputs` are those that use the same pixels; the weights of
// the second one are one pixel further on. Four pixels at a time, `fours`, with
// zeros where the filter has no weights. The order of channels in the vectors
// is that of DotColumnOf (simd_dot.h).

#ifndef MACE_KERNELS_CPU_DWCONV_QUANTIZED_FILTER_H_
#define MACE_KERNELS_CPU_DWCONV_QUANTIZED_FILTER_H_

#include <cstddef>

#include "mace/kernels/cpu/conv/conv.h"

namespace mace::dwconv {

struct QuantizedFilter {
  ptrdiff_t blocks;
  ptrdiff_t outputs;
  ptrdiff_t fours;
  ptrdiff_t block_bytes;
};

static inline QuantizedFilter FilterOf(const conv::Shape &s, ptrdiff_t block) {
  QuantizedFilter f;
  f.blocks = (s.in_c + block - 1) / block;
  f.outputs = s.stride_w == 1 && s.dilation_w == 1 ? 2 : 1;
  f.fours = (s.kernel_w + f.outputs - 1 + 3) / 4;
  f.block_bytes = s.kernel_h * f.outputs * f.fours * 4 * block;
  return f;
}

// The first channel of a block.
static inline ptrdiff_t BlockBegin(const conv::Shape &s,
                                   ptrdiff_t block,
                                   ptrdiff_t index) {
  const ptrdiff_t begin = index * block;
  if (index == 0 || begin + block <= s.in_c) return begin;
  return s.in_c - block;
}

}  // namespace mace::dwconv

#endif  // MACE_KERNELS_CPU_DWCONV_QUANTIZED_FILTER_H_
