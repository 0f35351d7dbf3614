// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The inner loop of Armv7's tiles, on rows that were packed by four: with one
// load for four products of K, 64 of 76 instructions of the loop multiply;
// with rows where they lie it were 32 of 48. Included by gemm_tile.h only.
//
// In assembly, since no compiler loads eight registers by one instruction. Of
// the 16 vector registers 8 hold sums, q0 to q3 (the only ones besides q4 to q7
// whose lanes can be multiplied by) rows, q4 to q7 weights.

#ifndef MACE_KERNELS_CPU_GEMM_NEON32_TILE_H_
#define MACE_KERNELS_CPU_GEMM_NEON32_TILE_H_

#include <cstddef>

#include "mace/kernels/cpu/simd.h"

namespace mace::gemm::MACE_ISA {

// Rows that are packed together: [depth][kPackedRows].
inline constexpr size_t kPackedRows = 4;

// Products [0, depth) of four rows to [depth][4].
MACE_SIMD_INLINE void PackFourRows(const float *const (&rows)[kPackedRows],
                                   size_t depth,
                                   float *to) {
  size_t k = 0;
#pragma clang loop unroll(disable)
  for (; k + 4 <= depth; k += 4, to += 4 * kPackedRows) {
    float32x4x4_t x;
    x.val[0] = vld1q_f32(rows[0] + k);
    x.val[1] = vld1q_f32(rows[1] + k);
    x.val[2] = vld1q_f32(rows[2] + k);
    x.val[3] = vld1q_f32(rows[3] + k);
    vst4q_f32(to, x);
  }
#pragma clang loop unroll(disable) vectorize(disable)
  for (; k < depth; ++k, to += kPackedRows) {
    to[0] = rows[0][k];
    to[1] = rows[1][k];
    to[2] = rows[2][k];
    to[3] = rows[3][k];
  }
}

// One product of K for one row (sums c0 and c1) or more; a01 and a23 are the
// registers of the rows' values, w0 and w1 of the weights. Two roundings each,
// as FmaLane.
#define MACE_ROW(c0, c1, a, lane, w0, w1)      \
  "vmla.f32 %q" #c0 ", " #w0 ", " #a "[" #lane \
  "]\n\t"                                      \
  "vmla.f32 %q" #c1 ", " #w1 ", " #a "[" #lane "]\n\t"
#define MACE_ROWS_1(a01, a23, w0, w1) MACE_ROW(0, 1, a01, 0, w0, w1)
#define MACE_ROWS_2(a01, a23, w0, w1) \
  MACE_ROWS_1(a01, a23, w0, w1) MACE_ROW(2, 3, a01, 1, w0, w1)
#define MACE_ROWS_3(a01, a23, w0, w1) \
  MACE_ROWS_2(a01, a23, w0, w1) MACE_ROW(4, 5, a23, 0, w0, w1)
#define MACE_ROWS_4(a01, a23, w0, w1) \
  MACE_ROWS_3(a01, a23, w0, w1) MACE_ROW(6, 7, a23, 1, w0, w1)

#define MACE_LOAD_A "vldm %[a]!, {d0-d7}\n\t"
#define MACE_LOAD_EVEN_W "vld1.32 {d8-d11}, [%[w]], %[step]\n\t"
#define MACE_LOAD_ODD_W "vld1.32 {d12-d15}, [%[w]], %[step]\n\t"

// Rounds of eight products; weights are loaded a product ahead.
#define MACE_EIGHT(rows)                                                  \
  "1:\n\t" MACE_LOAD_A MACE_LOAD_EVEN_W MACE_LOAD_ODD_W                   \
  "subs %[count], %[count], #1\n\t" rows(d0, d1, q4, q5) MACE_LOAD_EVEN_W \
  rows(d2, d3, q6, q7)                                                    \
  MACE_LOAD_ODD_W rows(d4, d5, q4, q5)                                    \
  MACE_LOAD_EVEN_W                                                        \
  rows(d6, d7, q6, q7) MACE_LOAD_A MACE_LOAD_ODD_W rows(d0, d1, q4, q5)   \
  MACE_LOAD_EVEN_W rows(d2, d3, q6, q7)                                   \
  MACE_LOAD_ODD_W rows(d4, d5, q4, q5) rows(d6, d7, q6, q7) "bne 1b"

#define MACE_SINGLE(rows)                         \
  "1:\n\t"                                        \
  "vld1.32 {d0-d1}, [%[a]]!\n\t" MACE_LOAD_EVEN_W \
  "subs %[count], %[count], #1\n\t" rows(d0, d1, q4, q5) "bne 1b"

#define MACE_SUMS_1 "+w"(acc[0][0]), "+w"(acc[0][1])
#define MACE_SUMS_2 MACE_SUMS_1, "+w"(acc[1][0]), "+w"(acc[1][1])
#define MACE_SUMS_3 MACE_SUMS_2, "+w"(acc[2][0]), "+w"(acc[2][1])
#define MACE_SUMS_4 MACE_SUMS_3, "+w"(acc[3][0]), "+w"(acc[3][1])

#define MACE_RUN(n, loop)                                            \
  __asm__ volatile(                                                  \
      loop(MACE_ROWS_##n)                                            \
      : MACE_SUMS_##n, [a] "+r"(a), [w] "+r"(w), [count] "+r"(count) \
      : [step] "r"(kStep)                                            \
      : "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory")

// acc[r][v] += a[k][r] * w[k][v] for all k; w: [depth][16].
template <int kRows>
MACE_SIMD_INLINE void MultiplyPacked(sv::V (&acc)[kRows][2],
                                     const float *a,
                                     const float *w,
                                     size_t depth) {
  static_assert(kRows >= 1 && kRows <= static_cast<int>(kPackedRows));
  constexpr size_t kStep = 16 * sizeof(float);
  size_t count = depth / 8;
  if (count != 0) {
    if constexpr (kRows == 1) MACE_RUN(1, MACE_EIGHT);
    if constexpr (kRows == 2) MACE_RUN(2, MACE_EIGHT);
    if constexpr (kRows == 3) MACE_RUN(3, MACE_EIGHT);
    if constexpr (kRows == 4) MACE_RUN(4, MACE_EIGHT);
  }
  count = depth % 8;
  if (count != 0) {
    if constexpr (kRows == 1) MACE_RUN(1, MACE_SINGLE);
    if constexpr (kRows == 2) MACE_RUN(2, MACE_SINGLE);
    if constexpr (kRows == 3) MACE_RUN(3, MACE_SINGLE);
    if constexpr (kRows == 4) MACE_RUN(4, MACE_SINGLE);
  }
}

#undef MACE_ROW
#undef MACE_ROWS_1
#undef MACE_ROWS_2
#undef MACE_ROWS_3
#undef MACE_ROWS_4
#undef MACE_LOAD_A
#undef MACE_LOAD_EVEN_W
#undef MACE_LOAD_ODD_W
#undef MACE_EIGHT
#undef MACE_SINGLE
#undef MACE_SUMS_1
#undef MACE_SUMS_2
#undef MACE_SUMS_3
#undef MACE_SUMS_4
#undef MACE_RUN

}  // namespace mace::gemm::MACE_ISA

#endif  // MACE_KERNELS_CPU_GEMM_NEON32_TILE_H_
