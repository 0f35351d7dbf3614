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
// Both operands are packed as signed numbers: 128 is subtracted from uint8
// values and from their zero points. The loop over K does not need the zero
// points:
//
//   C = S - a_zero[m] * (sum of B'[., n] - K * b_zero[n])
//         - b_zero[n] * (sum of A'[m, .]),   S[m, n] = sum of A'[m, k] B'[k, n]
//
// B: panels kI8Fours, the same for every instruction set; K is rounded up to a
// multiple of 4, and columns beyond N are zero. A: rows with K rounded up to a
// multiple of 4, in a layout that each kernel defines, 1 or 2 bytes per
// element. K is not divided: a group of 32 columns fits L2 up to a K of some
// ten thousands.
//
// Aliasing: C must not overlap any input.

#ifndef MACE_KERNELS_CPU_GEMM_INT8_GEMM_H_
#define MACE_KERNELS_CPU_GEMM_INT8_GEMM_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/gemm/gemm.h"

namespace mace::gemm {

// Packing of the 8-bit operands: `flip` is 0x80 if they are uint8, otherwise 0.
struct IntegerPacking {
  // Packs `rows` rows of `depth` bytes, which are `stride` apart, into
  // Block::packed (rows * DepthInFours(depth) * row_element_bytes), and writes
  // one sum per row to Block::row_sums.
  void (*pack_rows)(const uint8_t *from,
                    size_t stride,
                    size_t rows,
                    size_t depth,
                    uint8_t flip,
                    void *to,
                    uint32_t *sums);
  // Packs one panel of at most 16 columns of [depth][columns], whose rows are
  // `stride` apart. `sums`: 16 sums of the packed numbers.
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
