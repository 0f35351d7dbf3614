// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Products of fp16 numbers, for processors with arithmetic of fp16: gemm.h's
// Block where rows, weights (kF16: PACKED_O16), residual and results are fp16.
//
//   C[m, n] = act(bias[n] + sum over t, k of A(t, m)[k] * W[n, t * depth + k]
//                 + residual[m, n])
//
// Sums are fp16 in chains of at most `chain` products, starting from the bias
// in the first one; chains are added in fp16 over a stretch of at most
// kFp16DepthBlock products (about twice as many of one tap are halved), and
// stretches in float. Each addition rounds to 11 bits of the sum so far, so the
// error grows with the root of the chain. fp16 ends at 65504; what is beyond it
// is infinite.
//
// Order of summation: K ascending, cut into the same chains and stretches for
// every output, whatever the tile, block or thread count.
//
// Aliasing: C must not overlap A, W or bias; residual may equal C.

#ifndef MACE_KERNELS_CPU_GEMM_FP16_GEMM_H_
#define MACE_KERNELS_CPU_GEMM_FP16_GEMM_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/gemm/gemm.h"

namespace mace::gemm {

inline constexpr size_t kFp16DepthBlock = 512;
// A chain that ends costs seven instructions for each row of a tile, as against
// 286 of its 128 products.
inline constexpr size_t kFp16Chain = 128;

struct Fp16Block {
  const uint16_t *const *a = nullptr;  // a[t * rows + m]: depth numbers each
  size_t rows = 0;
  size_t taps = 1;
  size_t depth = 0;
  size_t chain = kFp16Chain;    // a multiple of 8
  const uint16_t *w = nullptr;  // panel 0, not panel_begin
  size_t columns = 0;           // of the whole product
  size_t panel_begin = 0;
  size_t panel_end = 0;
  uint16_t *c = nullptr;  // row 0, column 0
  size_t c_stride = 0;
  Epilogue epilogue;  // but for its residual:
  const uint16_t *residual = nullptr;
  size_t residual_stride = 0;
  // [rows][16], 64-byte aligned, for sums between stretches; not used if there
  // is one.
  float *sums = nullptr;
};

struct Fp16Kernels {
  void (*run)(const Fp16Block &block);
  size_t row_tile;  // as Kernels::row_tile
};

// Null for an ISA without such instructions.
const Fp16Kernels *Fp16KernelsFor(CpuIsa isa);

}  // namespace mace::gemm

#endif  // MACE_KERNELS_CPU_GEMM_FP16_GEMM_H_
