// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The inner loops of products of int8 whose sums and operands fill all
// registers: compilers interleave loads and products of consecutive steps, and
// then have to move sums to memory. Included only by quantized_gemm_isa.cc.

#ifndef MACE_KERNELS_CPU_GEMM_QUANTIZED_TILE_H_
#define MACE_KERNELS_CPU_GEMM_QUANTIZED_TILE_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/gemm/dot_tiles.h"
#include "mace/kernels/cpu/simd.h"
#include "mace/kernels/cpu/simd_dot.h"

namespace mace::gemm::MACE_ISA {

#if defined(__ARM_FEATURE_DOTPROD)

// Six rows by 16 columns take 24 registers for sums, six for rows and two for
// weights.
inline constexpr int kDotprodRows = 6;

// Weights of four columns with element k of a four of each row.
#define MACE_DOTS(v, weights, k)                           \
  "sdot %[s0" #v "].4s, " weights ".16b, v24.4b[" #k "]\n" \
  "sdot %[s1" #v "].4s, " weights ".16b, v25.4b[" #k "]\n" \
  "sdot %[s2" #v "].4s, " weights ".16b, v26.4b[" #k "]\n" \
  "sdot %[s3" #v "].4s, " weights ".16b, v27.4b[" #k "]\n" \
  "sdot %[s4" #v "].4s, " weights ".16b, v28.4b[" #k "]\n" \
  "sdot %[s5" #v "].4s, " weights ".16b, v29.4b[" #k "]\n"
#define MACE_FOUR(k)                                              \
  "ldp q30, q31, [%[w]], #32\n" MACE_DOTS(0, "v30", k) MACE_DOTS( \
      1, "v31", k) "ldp q30, q31, [%[w]], #32\n" MACE_DOTS(2, "v30", k) MACE_DOTS(3, "v31", k)
// `kind`: of a register with `bytes` bytes.
#define MACE_LOAD_ROWS(kind, bytes)       \
  "ldr " kind "24, [%[a0]], #" bytes "\n" \
  "ldr " kind "25, [%[a1]], #" bytes "\n" \
  "ldr " kind "26, [%[a2]], #" bytes "\n" \
  "ldr " kind "27, [%[a3]], #" bytes "\n" \
  "ldr " kind "28, [%[a4]], #" bytes "\n" \
  "ldr " kind "29, [%[a5]], #" bytes "\n"
#define MACE_SUMS(r)                                                         \
  [s##r##0] "+w"(s[r][0]), [s##r##1] "+w"(s[r][1]), [s##r##2] "+w"(s[r][2]), \
      [s##r##3] "+w"(s[r][3]), [a##r] "+r"(a[r])
#define MACE_RUN(text)                                                                     \
  __asm__ volatile(text                                                                    \
                   : MACE_SUMS(0), MACE_SUMS(1), MACE_SUMS(2), MACE_SUMS(3), MACE_SUMS(4), \
                     MACE_SUMS(5), [w] "+r"(w)                                             \
                   :                                                                       \
                   : "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "memory")

// Adds the products of the next kFours fours of each row; moves `a` and `w`
// behind them.
template <int kFours>
MACE_SIMD_INLINE void AddFoursOfSix(const int8_t *&w,
                                    const uint8_t *(&a)[kDotprodRows],
                                    simd::MACE_ISA::DotSum (&s)[kDotprodRows][4]) {
  static_assert(kFours == 1 || kFours == 2 || kFours == 4);
  if constexpr (kFours == 4) {
    MACE_RUN(MACE_LOAD_ROWS("q", "16") MACE_FOUR(0) MACE_FOUR(1) MACE_FOUR(2) MACE_FOUR(3));
  } else if constexpr (kFours == 2) {
    MACE_RUN(MACE_LOAD_ROWS("d", "8") MACE_FOUR(0) MACE_FOUR(1));
  } else {
    MACE_RUN(MACE_LOAD_ROWS("s", "4") MACE_FOUR(0));
  }
}

#undef MACE_RUN
#undef MACE_SUMS
#undef MACE_LOAD_ROWS
#undef MACE_FOUR
#undef MACE_DOTS

#elif defined(__aarch64__)

// Two rows by 16 columns take 16 registers for sums, four for rows, four for
// weights and four for products. Four rows by eight columns would load rows
// twice as often, and results would be stored in halves of a register.

// Eight columns: weights of two fours in v16, v17 and v18, v19, elements in x0
// and x1; sums v and u.
#define MACE_COLUMNS(x0, x1, s, v, u)    \
  "smull v24.8h, v16.8b, " x0 ".8b\n"    \
  "smull2 v25.8h, v16.16b, " x0 ".16b\n" \
  "smull v26.8h, v17.8b, " x0 ".8b\n"    \
  "smull2 v27.8h, v17.16b, " x0 ".16b\n" \
  "smlal v24.8h, v18.8b, " x1 ".8b\n"    \
  "smlal2 v25.8h, v18.16b, " x1 ".16b\n" \
  "smlal v26.8h, v19.8b, " x1 ".8b\n"    \
  "smlal2 v27.8h, v19.16b, " x1 ".16b\n" \
  "sadalp %[" s v "l].4s, v24.8h\n"      \
  "sadalp %[" s v "h].4s, v25.8h\n"      \
  "sadalp %[" s u "l].4s, v26.8h\n"      \
  "sadalp %[" s u "h].4s, v27.8h\n"
#define MACE_EIGHT                                                                           \
  "ld1r {v20.4s}, [%[a0]], #4\n"                                                             \
  "ld1r {v21.4s}, [%[a0]], #4\n"                                                             \
  "ldp q16, q17, [%[w]], #32\n"                                                              \
  "ldp q18, q19, [%[w], #32]\n"                                                              \
  "ld1r {v22.4s}, [%[a1]], #4\n"                                                             \
  "ld1r {v23.4s}, [%[a1]], #4\n" MACE_COLUMNS("v20", "v21", "s0", "0", "1")                  \
      MACE_COLUMNS("v22", "v23", "s1", "0", "1") "ldp q16, q17, [%[w]], #64\n"               \
                                                 "ldp q18, q19, [%[w]], #32\n" MACE_COLUMNS( \
                                                     "v20", "v21", "s0", "2", "3")           \
                                                     MACE_COLUMNS("v22", "v23", "s1", "2", "3")
#define MACE_SUM(r, v) [s##r##v##l] "+w"(s[r][v].low), [s##r##v##h] "+w"(s[r][v].high)
#define MACE_SUMS(r) \
  MACE_SUM(r, 0), MACE_SUM(r, 1), MACE_SUM(r, 2), MACE_SUM(r, 3), [a##r] "+r"(a[r])

inline constexpr int kEightsRows = 2;
inline constexpr int kEightsVectors = 4;

// Adds the products of the next 8 * count elements of each row; moves `a`
// behind them. `w`: a panel, or eight columns of it. No weight may be -128.
MACE_SIMD_INLINE void AddEights(const int8_t *w,
                                const uint8_t *(&a)[kEightsRows],
                                size_t count,
                                simd::MACE_ISA::DotSum (&s)[kEightsRows][kEightsVectors]) {
  if (count == 0) return;
  static_assert(kPanelStep == 64);
  // Two at a time, after one if the number is odd.
  __asm__ volatile("tbz %w[count], #0, 1f\n" MACE_EIGHT "subs %[count], %[count], #1\n"
                   "b.eq 2f\n"
                   "1:\n" MACE_EIGHT MACE_EIGHT "subs %[count], %[count], #2\n"
                   "b.ne 1b\n"
                   "2:"
                   : MACE_SUMS(0), MACE_SUMS(1), [w] "+r"(w), [count] "+r"(count)
                   :
                   : "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26",
                     "v27", "cc", "memory");
}

#undef MACE_SUMS
#undef MACE_SUM
#undef MACE_EIGHT
#undef MACE_COLUMNS

#elif defined(__arm__)

// Two rows by eight columns take eight registers for sums, four for weights,
// one for a row and two for products, of 16.

// Four columns: weights of two fours in w0, w1 and x0, x1; sums l and h.
#define MACE_COLUMNS(w0, w1, x0, x1, l, h) \
  "vmull.s8 q13, " w0 ", d24\n"            \
  "vmull.s8 q14, " w1 ", d24\n"            \
  "vmlal.s8 q13, " x0 ", d25\n"            \
  "vmlal.s8 q14, " x1 ", d25\n"            \
  "vpadal.s16 %q[" l "], q13\n"            \
  "vpadal.s16 %q[" h "], q14\n"
#define MACE_ROW(a, s)                                                                      \
  "vld1.32 {d24[]}, [%[" a "]]!\n"                                                          \
  "vld1.32 {d25[]}, [%[" a "]]!\n" MACE_COLUMNS("d16", "d17", "d20", "d21", s "0l", s "0h") \
      MACE_COLUMNS("d18", "d19", "d22", "d23", s "1l", s "1h")
#define MACE_EIGHT                      \
  "vld1.8 {d16-d19}, [%[w]], %[step]\n" \
  "vld1.8 {d20-d23}, [%[w]], %[step]\n" MACE_ROW("a0", "s0") MACE_ROW("a1", "s1")

inline constexpr int kEightsRows = 2;
inline constexpr int kEightsVectors = 2;

// As above.
MACE_SIMD_INLINE void AddEights(const int8_t *w,
                                const uint8_t *(&a)[kEightsRows],
                                size_t count,
                                simd::MACE_ISA::DotSum (&s)[kEightsRows][kEightsVectors]) {
  if (count == 0) return;
  __asm__ volatile("tst %[count], #1\n"
                   "beq 1f\n" MACE_EIGHT "subs %[count], %[count], #1\n"
                   "beq 2f\n"
                   "1:\n" MACE_EIGHT MACE_EIGHT "subs %[count], %[count], #2\n"
                   "bne 1b\n"
                   "2:"
                   : [s00l] "+w"(s[0][0].low), [s00h] "+w"(s[0][0].high), [s01l] "+w"(s[0][1].low),
                     [s01h] "+w"(s[0][1].high), [s10l] "+w"(s[1][0].low), [s10h] "+w"(s[1][0].high),
                     [s11l] "+w"(s[1][1].low), [s11h] "+w"(s[1][1].high), [a0] "+r"(a[0]),
                     [a1] "+r"(a[1]), [w] "+r"(w), [count] "+r"(count)
                   : [step] "r"(kPanelStep)
                   : "q8", "q9", "q10", "q11", "q12", "q13", "q14", "cc", "memory");
}

#undef MACE_EIGHT
#undef MACE_ROW
#undef MACE_COLUMNS

#endif

}  // namespace mace::gemm::MACE_ISA

#endif  // MACE_KERNELS_CPU_GEMM_QUANTIZED_TILE_H_
