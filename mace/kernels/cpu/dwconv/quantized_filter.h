// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The packed filter of quantized_dwconv.h: for each block of channels
//
//   int8 [kernel_h][fours][outputs][4 vectors][block / 4][4]
//
// The last block begins such that it ends with the last channel, unless there
// is one block. That one has several neighbouring `pixels` if they fit and if
// the stride is 1: they lie in memory one after the other. `outputs` are those
// that use the same pixels; the weights of the second one are one pixel further
// on. Four pixels at a time, `fours`, with zeros where the filter has no
// weights. The order of channels in the vectors is that of DotColumnOf
// (simd_dot.h).
//
// `by_columns` (quantized_columns.h) has four pixels of a column instead, and
// `outputs` are those of neighbouring rows:
//
//   int8 [kernel_w][outputs][4 vectors][block / 4][4]
//
// Kernels that multiply int16 (QuantizedKernels::widened) have weights and
// staged pixels as such, elements 0 and 2 of all fours of a vector before 1 and
// 3:
//
//   int16 [kernel_h][fours][outputs][4 vectors][2][block / 4][2]

#ifndef MACE_KERNELS_CPU_DWCONV_QUANTIZED_FILTER_H_
#define MACE_KERNELS_CPU_DWCONV_QUANTIZED_FILTER_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/conv/conv.h"
#include "mace/kernels/cpu/gemm/quantized_gemm.h"

namespace mace::dwconv {

struct QuantizedFilter {
  bool by_columns;
  ptrdiff_t blocks;
  ptrdiff_t pixels;
  ptrdiff_t outputs;
  ptrdiff_t fours;
  ptrdiff_t block_bytes;
  // Of the scratch memory: `head_bytes` of StagedRow, then window + 1 rows of
  // the image, of `slot_bytes`, as products of `groups` groups of outputs read
  // them. `by_columns`: only a row of padding, as wide as the image.
  ptrdiff_t window;
  ptrdiff_t groups;
  ptrdiff_t head_bytes;
  ptrdiff_t slot_bytes;
};

// Of a slot: which row it has. Of a row of the filter: where its pixels are.
struct StagedRow {
  ptrdiff_t staged;
  const uint8_t *row;
};

static inline QuantizedFilter FilterOf(const conv::Shape &s,
                                       ptrdiff_t block,
                                       bool widened) {
  QuantizedFilter f;
  const ptrdiff_t bytes = widened ? 2 : 1;  // of an element
  f.blocks = (s.in_c + block - 1) / block;
  f.pixels = s.stride_w == 1 && 2 * s.in_c <= block ? block / s.in_c : 1;
  const bool shares = s.stride_w == 1 && s.dilation_w == 1 && f.pixels == 1;
  f.outputs = shares ? 2 : 1;
  f.fours = (s.kernel_w + f.outputs - 1 + 3) / 4;
  f.by_columns = !kUnsignedBytes && s.in_c >= block && s.kernel_h == 3 &&
                 s.kernel_w == 3 && s.dilation_h == 1 && s.dilation_w == 1 &&
                 s.stride_h == s.stride_w && s.stride_w <= 2;
  f.block_bytes = s.kernel_h * f.outputs * f.fours * 4 * block * bytes;

  // The rows under one row of the output stay in a cache of 32 KB.
  const ptrdiff_t most = 32 / bytes;
  const ptrdiff_t step = f.outputs * f.pixels;
  const ptrdiff_t all = (s.out_w + step - 1) / step;
  f.window = (s.kernel_h - 1) * s.dilation_h + 1;
  f.groups = all < most ? all : most;
  const auto entry = static_cast<ptrdiff_t>(sizeof(StagedRow));
  f.head_bytes = ((f.window + 1) * entry + 63) / 64 * 64;
  f.slot_bytes = f.groups * f.fours * 4 * block * bytes;
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
