// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Products of bf16 numbers, summed in float: gemm.h's Block for processors with
// instructions for it. Both operands are bf16; bias, residual, sums and results
// are float.
//
//   C[m, n] = act(bias[n] + sum over t, k of A(t, m)[k] * W[n, t * depth + k]
//                 + residual[m, n])
//
// Rows of A are given by pointer and `depth` is even: a pair of neighbours in K
// is one operand of 32 bits. Weights are PACKED_O16_PAIRS,
// [ceil(N / 16)][taps * depth / 2][16][2].
//
// Order of summation: bias first, then the pairs of K ascending in one chain
// per output, whatever the tile, block or thread count.
//
// Aliasing: as in gemm.h, with kBf16DepthBlock in the place of kDepthBlock.

#ifndef MACE_KERNELS_CPU_GEMM_BF16_GEMM_H_
#define MACE_KERNELS_CPU_GEMM_BF16_GEMM_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/gemm/gemm.h"

namespace mace::gemm {

// A stretch of the widest column group, 1024 x 64 bf16, is 128 KiB.
inline constexpr size_t kBf16DepthBlock = 1024;

struct Bf16Block {
  const uint16_t *const *a = nullptr;  // a[t * rows + m]: depth numbers each
  size_t rows = 0;
  size_t taps = 1;
  size_t depth = 0;             // even
  const uint16_t *w = nullptr;  // panel 0, not panel_begin
  size_t columns = 0;           // of the whole product
  size_t panel_begin = 0;
  size_t panel_end = 0;
  float *c = nullptr;  // row 0, column 0
  size_t c_stride = 0;
  Epilogue epilogue;
};

struct Bf16Kernels {
  void (*run)(const Bf16Block &block);
  // Rounds to nearest even; subnormal numbers may become 0.
  void (*narrow)(const float *from, uint16_t *to, size_t count);
  size_t row_tile;  // as Kernels::row_tile
};

// Null for an ISA without such instructions.
const Bf16Kernels *Bf16KernelsFor(CpuIsa isa);

}  // namespace mace::gemm

#endif  // MACE_KERNELS_CPU_GEMM_BF16_GEMM_H_
