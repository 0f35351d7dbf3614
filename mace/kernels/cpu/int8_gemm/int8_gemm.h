// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Matrix products of 8-bit integers, each int8 or uint8, with zero points:
//
//   C[m, n] = sum over k of (A[m, k] - a_zero[m]) * (B[k, n] - b_zero[n])
//
// in int32, exact modulo 2^32: the same numbers on every instruction set and
// for any split of the work.
//
// Both operands are packed as signed numbers: uint8 minus 128, which their zero
// points take along. The zero points stay out of the loop over K:
//
//   C = S - a_zero[m] * (sum of B'[., n] - K * b_zero[n])
//         - b_zero[n] * (sum of A'[m, .]),   S[m, n] = sum of A'[m, k] B'[k, n]
//
// B: panels of 16 columns, [ceil(N / 16)][K / 4][16][4] of int8, the same for
// every instruction set; K rounded up to fours and columns beyond N are zero.
// A: rows of K rounded up to fours in a form of the kernels' own, 1 or 2 bytes
// each. There is no split of K: a group of 32 columns stays in L2 up to K of
// some ten thousands.
//
// Aliasing: C must not overlap anything that is read.

#ifndef MACE_KERNELS_CPU_INT8_GEMM_INT8_GEMM_H_
#define MACE_KERNELS_CPU_INT8_GEMM_INT8_GEMM_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/isa.h"

namespace mace::int8_gemm {

inline constexpr size_t kPanelColumns = 16;

inline constexpr size_t PanelCount(size_t columns) {
  return (columns + kPanelColumns - 1) / kPanelColumns;
}
inline constexpr size_t PaddedDepth(size_t depth) {
  return (depth + 3) / 4 * 4;
}
inline constexpr size_t PanelBytes(size_t depth) {
  return PaddedDepth(depth) * kPanelColumns;
}

// Numbers of 32 bits wrap around, hence uint32_t.
struct Block {
  const void *a = nullptr;              // of pack_rows
  const uint32_t *row_sums = nullptr;   // likewise
  const uint32_t *row_zeros = nullptr;  // of the signed numbers
  size_t rows = 0;
  size_t depth = 0;           // K
  const int8_t *b = nullptr;  // panel 0, not panel_begin
  // Whole panels, from panel 0 on: the sum less K * zero of every column.
  const uint32_t *column_sums = nullptr;
  const uint32_t *column_zeros = nullptr;
  size_t columns = 0;  // of the whole product; the last panel may be partial
  size_t panel_begin = 0;
  size_t panel_end = 0;
  int32_t *c = nullptr;  // row 0, column 0
  size_t c_stride = 0;
};

// Of the 8-bit operands: `flip` is 0x80 where they are uint8, else 0.
struct Kernels {
  void (*run)(const Block &block);
  // `rows` rows of `depth` bytes, `stride` apart; to rows * PaddedDepth(depth)
  // * row_element_bytes. `sums`: one a row, for Block::row_sums alone.
  void (*pack_rows)(const uint8_t *from,
                    size_t stride,
                    size_t rows,
                    size_t depth,
                    uint8_t flip,
                    void *to,
                    uint32_t *sums);
  // One panel of at most 16 columns of [depth][columns], rows `stride` apart.
  // `sums`: 16.
  void (*pack_panel)(const uint8_t *from,
                     size_t stride,
                     size_t depth,
                     size_t columns,
                     uint8_t flip,
                     int8_t *to,
                     uint32_t *sums);
  size_t row_element_bytes;
  size_t row_tile;   // rows of the tallest tile
  const char *name;  // of the arithmetic, for reports
};

// Never null for an ISA other than CpuIsa::kNone.
const Kernels *KernelsFor(CpuIsa isa);

}  // namespace mace::int8_gemm

#endif  // MACE_KERNELS_CPU_INT8_GEMM_INT8_GEMM_H_
