// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The arithmetic of int8 (gemm.h): products of 8-bit integers, each int8 or
// uint8, with zero points:
//
//   C[m, n] = sum over k of (A[m, k] - a_zero[m]) * (B[k, n] - b_zero[n])
//
// in int32, exact modulo 2^32: the same numbers on every instruction set and
// for any split of the work. Numbers of 32 bits wrap around, hence uint32_t.
//
// Both operands are packed as signed numbers: uint8 minus 128, which their zero
// points take along. The zero points stay out of the loop over K:
//
//   C = S - a_zero[m] * (sum of B'[., n] - K * b_zero[n])
//         - b_zero[n] * (sum of A'[m, .]),   S[m, n] = sum of A'[m, k] B'[k, n]
//
// B: panels kI8Fours, the same for every instruction set; K rounded up to fours
// and columns beyond N are zero. A: rows of K rounded up to fours in a form of
// the kernels' own, 1 or 2 bytes each. There is no split of K: a group of 32
// columns stays in L2 up to K of some ten thousands.
//
// Aliasing: C must not overlap anything that is read.

#ifndef MACE_KERNELS_CPU_GEMM_INT8_GEMM_H_
#define MACE_KERNELS_CPU_GEMM_INT8_GEMM_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/gemm/gemm.h"

namespace mace::gemm {

// K in rows and panels.
inline constexpr size_t DepthInFours(size_t depth) {
  return (depth + 3) / 4 * 4;
}

// Of the 8-bit operands: `flip` is 0x80 where they are uint8, else 0.
struct IntegerPacking {
  // Makes Block::packed and row_sums of `rows` rows of `depth` bytes, `stride`
  // apart: rows * DepthInFours(depth) * row_element_bytes, and a sum per row.
  void (*pack_rows)(const uint8_t *from,
                    size_t stride,
                    size_t rows,
                    size_t depth,
                    uint8_t flip,
                    void *to,
                    uint32_t *sums);
  // One panel of at most 16 columns of [depth][columns], rows `stride` apart.
  // `sums`: 16, of the packed numbers.
  void (*pack_panel)(const uint8_t *from,
                     size_t stride,
                     size_t depth,
                     size_t columns,
                     uint8_t flip,
                     int8_t *to,
                     uint32_t *sums);
  size_t row_element_bytes;
};

}  // namespace mace::gemm

#endif  // MACE_KERNELS_CPU_GEMM_INT8_GEMM_H_
