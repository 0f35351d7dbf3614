// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The inner loop of Armv7's tiles, on rows that were packed four at a time: one
// load serves four products of K, and 64 of 76 instructions of the loop
// multiply; with unpacked rows it was 32 of 48. Included only by gemm_tile.h.
//
// Written in assembly, because no compiler loads eight registers with one
// instruction. Of the 16 vector registers, 8 hold sums, q0 to q3 rows and q4 to
// q7 weights (instructions can multiply by a lane of q0 to q7 only).

#ifndef MACE_KERNELS_CPU_GEMM_NEON32_TILE_H_
#define MACE_KERNELS_CPU_GEMM_NEON32_TILE_H_

#include <cstddef>

#include "mace/kernels/cpu/simd.h"

namespace mace::gemm::MACE_ISA {

// Rows that are packed together: [depth][kPackedRows].
inline constexpr size_t kPackedRows = 4;

// Writes products [0, depth) of four rows to [depth][4].
MACE_SIMD_INLINE void PackFourRows(const float *const (&rows)[kPackedRows],
                                   size_t depth,
                                   float *to) {
  const float *from[kPackedRows] = {rows[0], rows[1], rows[2], rows[3]};
  auto pack_four = [&]() __attribute__((always_inline)) {
    float32x4x4_t x;
    for (size_t r = 0; r < kPackedRows; ++r) {
      x.val[r] = vld1q_f32(from[r]);
      from[r] += 4;
    }
    vst4q_f32(to, x);
    to += 4 * kPackedRows;
  };
#pragma clang loop unroll(disable)
  for (size_t rounds = depth / 8; rounds != 0; --rounds) {
    pack_four();
    pack_four();
  }
  if (depth & 4) pack_four();
#pragma clang loop unroll(disable) vectorize(disable)
  for (size_t k = 0; k < depth % 4; ++k, to += kPackedRows) {
    to[0] = from[0][k];
    to[1] = from[1][k];
    to[2] = from[2][k];
    to[3] = from[3][k];
  }
}

// One product of K for one row (sums c0 and c1); a01 and a23 are the registers
// with the rows' values, w0 and w1 those with the weights. Uses the chained
// form with two roundings, because the fused instruction cannot multiply by a
// lane.
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

// Eight products per iteration; weights are loaded one product ahead.
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

#define MACE_RUN(n, loop)                                            \
  __asm__ volatile(                                                  \
      loop(MACE_ROWS_##n)                                            \
      : MACE_SUMS_##n, [a] "+r"(a), [w] "+r"(w), [count] "+r"(count) \
      : [step] "r"(kStep)                                            \
      : "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory")

// acc[r][v] += a[k][r] * w[k][v] for all k; w: [depth] with stride 16. For the
// last rows, if fewer than four remain.
template <int kRows>
MACE_SIMD_INLINE void MultiplyPacked(sv::V (&acc)[kRows][2],
                                     const float *a,
                                     const float *w,
                                     size_t depth) {
  static_assert(kRows >= 1 && kRows < static_cast<int>(kPackedRows));
  constexpr size_t kStep = 16 * sizeof(float);
  size_t count = depth / 8;
  if (count != 0) {
    if constexpr (kRows == 1) MACE_RUN(1, MACE_EIGHT);
    if constexpr (kRows == 2) MACE_RUN(2, MACE_EIGHT);
    if constexpr (kRows == 3) MACE_RUN(3, MACE_EIGHT);
  }
  count = depth % 8;
  if (count != 0) {
    if constexpr (kRows == 1) MACE_RUN(1, MACE_SINGLE);
    if constexpr (kRows == 2) MACE_RUN(2, MACE_SINGLE);
    if constexpr (kRows == 3) MACE_RUN(3, MACE_SINGLE);
  }
}

// Tiles of four rows and eight columns, one below the other.
struct FourRows {
  size_t count;
  const float *packed;  // [count][depth][4]
  size_t depth;
  const float *w;  // [depth] of stride 16
  float *c;
  size_t c_stride;
  const float *init;      // as in Tile
  const float *residual;  // null: nothing
  size_t residual_stride;
  bool clamp;
  float low;
  float high;
};

// s0 to s7, the sums: rows of two vectors.
#define MACE_EACH_SUM(f) f(s0) f(s1) f(s2) f(s3) f(s4) f(s5) f(s6) f(s7)
#define MACE_MAX(s) s = sv::Max(s, low);
#define MACE_MIN(s) s = sv::Min(s, high);
#define MACE_SUMS_4 \
  "+w"(s0), "+w"(s1), "+w"(s2), "+w"(s3), "+w"(s4), "+w"(s5), "+w"(s6), "+w"(s7)

// Sums stay in q8 to q15, in this order, so that one instruction loads or
// stores a row: apart from the products, a tile then takes about 42
// instructions instead of 77.
MACE_SIMD_INLINE void RunFourRows(const FourRows &t) {
  constexpr size_t kStep = 16 * sizeof(float);
  const size_t c_step = t.c_stride * sizeof(float);
  const size_t from_step = t.init != nullptr ? 0 : c_step;
  // Whether there is an upper bound; computed once, not for each tile.
  int bounded = t.high < __builtin_inff() ? 1 : 0;
  __asm__("" : "+r"(bounded));
  const float *a = t.packed;
  const float *residual = t.residual;
  float *c = t.c;
  for (size_t tiles = t.count; tiles != 0; --tiles) {
    register sv::V s0 __asm__("q8");
    register sv::V s1 __asm__("q9");
    register sv::V s2 __asm__("q10");
    register sv::V s3 __asm__("q11");
    register sv::V s4 __asm__("q12");
    register sv::V s5 __asm__("q13");
    register sv::V s6 __asm__("q14");
    register sv::V s7 __asm__("q15");
    const float *from = t.init != nullptr ? t.init : c;
    __asm__ volatile(
        "vld1.32 {d16-d19}, [%[from]], %[step]\n\t"
        "vld1.32 {d20-d23}, [%[from]], %[step]\n\t"
        "vld1.32 {d24-d27}, [%[from]], %[step]\n\t"
        "vld1.32 {d28-d31}, [%[from]], %[step]"
        : "=w"(s0), "=w"(s1), "=w"(s2), "=w"(s3), "=w"(s4), "=w"(s5), "=w"(s6),
          "=w"(s7), [from] "+r"(from)
        : [step] "r"(from_step)
        : "memory");
    const float *w = t.w;
    size_t count = t.depth / 8;
    if (count != 0) MACE_RUN(4, MACE_EIGHT);
    count = t.depth % 8;
    if (count != 0) MACE_RUN(4, MACE_SINGLE);
    if (residual != nullptr) {
      const float *p = residual;
      s0 += sv::Load(p);
      s1 += sv::Load(p + 4);
      p += t.residual_stride;
      s2 += sv::Load(p);
      s3 += sv::Load(p + 4);
      p += t.residual_stride;
      s4 += sv::Load(p);
      s5 += sv::Load(p + 4);
      p += t.residual_stride;
      s6 += sv::Load(p);
      s7 += sv::Load(p + 4);
      residual = p + t.residual_stride;
    }
    if (t.clamp) {
      const sv::V low = sv::Set(t.low);
      MACE_EACH_SUM(MACE_MAX)
      if (bounded != 0) {
        const sv::V high = sv::Set(t.high);
        MACE_EACH_SUM(MACE_MIN)
      }
    }
    // Advances c to the next tile, as the products advance a.
    __asm__ volatile(
        "vst1.32 {d16-d19}, [%[c]], %[step]\n\t"
        "vst1.32 {d20-d23}, [%[c]], %[step]\n\t"
        "vst1.32 {d24-d27}, [%[c]], %[step]\n\t"
        "vst1.32 {d28-d31}, [%[c]], %[step]"
        : [c] "+r"(c)
        : "w"(s0), "w"(s1), "w"(s2), "w"(s3), "w"(s4), "w"(s5), "w"(s6),
          "w"(s7), [step] "r"(c_step)
        : "memory");
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
#undef MACE_EACH_SUM
#undef MACE_MAX
#undef MACE_MIN

}  // namespace mace::gemm::MACE_ISA

#endif  // MACE_KERNELS_CPU_GEMM_NEON32_TILE_H_
