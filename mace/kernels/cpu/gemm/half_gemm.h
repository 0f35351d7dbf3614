// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Products of bf16 numbers, for processors with instructions for them: gemm.h's
// Block where rows and weights are bf16. Bias and sums are float; residual and
// results are float or bf16.
//
//   C[m, n] = act(bias[n] + sum over t, k of A(t, m)[k] * W[n, t * depth + k]
//                 + residual[m, n])
//
// Weights are kBf16Pairs; `depth` is even.
//
// Order of summation: bias first (tiles: last), then K ascending by pairs
// (tiles: what is left of all taps at the end) in one chain per output and
// stretch, whatever the tile, block or thread count.
//
// Aliasing: as in gemm.h, with depth_block in the place of kDepthBlock; a
// result of bf16 may lie where its residual does.

#ifndef MACE_KERNELS_CPU_GEMM_HALF_GEMM_H_
#define MACE_KERNELS_CPU_GEMM_HALF_GEMM_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/gemm/gemm.h"

namespace mace::gemm {

// Processors of other families have none of these kernels: what would call them
// is not compiled there.
#if defined(__x86_64__)
inline constexpr bool kHalfKernelsExist = true;
#else
inline constexpr bool kHalfKernelsExist = false;
#endif

// Columns of HalfBlock::sums.
inline constexpr size_t kHalfSumColumns = kMaxGroupPanels * kPanelColumns;

struct HalfBlock {
  const uint16_t *const *a = nullptr;  // a[t * rows + m]: depth numbers each
  const uint16_t *packed = nullptr;    // not null: rows that `pack` wrote, and
                                       // a is not read
  size_t rows = 0;
  size_t taps = 1;
  size_t depth = 0;
  const uint16_t *w = nullptr;  // panel 0, not panel_begin
  size_t columns = 0;           // of the whole product
  size_t panel_begin = 0;
  size_t panel_end = 0;
  float *c = nullptr;  // row 0, column 0
  size_t c_stride = 0;
  Epilogue epilogue;
  // Not null: instead of c and epilogue.residual, whose strides they have.
  uint16_t *c_half = nullptr;
  const uint16_t *residual_half = nullptr;
  // [rows][kHalfSumColumns], 64-byte aligned, for sums between stretches of K;
  // with c_half alone, and not used if there is one stretch.
  float *sums = nullptr;
};

struct HalfKernels {
  void (*run)(const HalfBlock &block);
  // To nearest even; subnormal numbers may become 0.
  void (*narrow)(const float *from, uint16_t *to, size_t count);
  void (*widen)(const uint16_t *from, float *to, size_t count);
  size_t row_tile;  // as Kernels::row_tile
  size_t
      depth_block;   // K runs in stretches of at most about this many products
  const char *name;  // of the arithmetic: "bf16"
  // For weights in pairs: `runs` of `count` numbers, an odd one, each followed
  // by a 0.
  void (*narrow_padded)(const float *from,
                        uint16_t *to,
                        size_t runs,
                        size_t count) = nullptr;
  // Not null: narrows rows of `count` numbers for HalfBlock::packed with one
  // tap, whose depth is `count` rounded up to pairs; to `rows` times that.
  void (*pack)(const float *const *a,
               size_t rows,
               size_t count,
               uint16_t *to) = nullptr;
  // The same for rows of bf16.
  void (*pack_half)(const uint16_t *const *a,
                    size_t rows,
                    size_t count,
                    uint16_t *to) = nullptr;
  // Whether rows must be equally far apart in all taps: an image gets its
  // border by a copy, no row pointer leads to zeros elsewhere.
  bool pads_images = false;
};

// Null for an ISA without such instructions, or weights they do not take. May
// ask the operating system for them: PermittedIsa.
const HalfKernels *HalfKernelsFor(CpuIsa isa, WeightType weights);

}  // namespace mace::gemm

#endif  // MACE_KERNELS_CPU_GEMM_HALF_GEMM_H_
