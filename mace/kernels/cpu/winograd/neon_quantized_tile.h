// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The inner loop of products of int16: sums and operands fill all registers of
// Armv7, and most of those of Armv8. Included only by neon_quantized_isa.cc.

#ifndef MACE_KERNELS_CPU_WINOGRAD_NEON_QUANTIZED_TILE_H_
#define MACE_KERNELS_CPU_WINOGRAD_NEON_QUANTIZED_TILE_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/simd_vector.h"

namespace mace::winograd::MACE_ISA {
namespace sv = simd::MACE_ISA;

inline constexpr int kTileRows = 4;
inline constexpr bool kPairsChannels = false;

#define MACE_ROW_SUMS_2(r) [s##r##0] "+w"(s[r][0]), [s##r##1] "+w"(s[r][1])

#if defined(__aarch64__)

// Four rows by 16 columns.
inline constexpr int kTileVectors = 4;

#define MACE_ROW(r, w0, w1, k)                             \
  "smlal %[s" #r "0].4s, v" w0 ".4h, v" #r ".h[" #k "]\n"  \
  "smlal2 %[s" #r "1].4s, v" w0 ".8h, v" #r ".h[" #k "]\n" \
  "smlal %[s" #r "2].4s, v" w1 ".4h, v" #r ".h[" #k "]\n"  \
  "smlal2 %[s" #r "3].4s, v" w1 ".8h, v" #r ".h[" #k "]\n"
#define MACE_CHANNEL(w0, w1, k)                                                       \
  "ldp q" w0 ", q" w1 ", [%[w]], #32\n" MACE_ROW(0, w0, w1, k) MACE_ROW(1, w0, w1, k) \
      MACE_ROW(2, w0, w1, k) MACE_ROW(3, w0, w1, k)
#define MACE_ROW_SUMS(r) MACE_ROW_SUMS_2(r), [s##r##2] "+w"(s[r][2]), [s##r##3] "+w"(s[r][3])

// Adds the products of `steps` times eight channels; moves `a` behind them.
// a: [steps][4][8], w: [steps * 8][16].
MACE_SIMD_INLINE void AddChannels(const int16_t *&a,
                                  const int16_t *w,
                                  size_t steps,
                                  sv::VI (&s)[kTileRows][kTileVectors]) {
  __asm__ volatile("1:\n"
                   "ldp q0, q1, [%[a]], #32\n"
                   "ldp q2, q3, [%[a]], #32\n"
                   "subs %[steps], %[steps], #1\n" MACE_CHANNEL("4", "5", 0)
                       MACE_CHANNEL("6", "7", 1) MACE_CHANNEL("4", "5", 2) MACE_CHANNEL("6", "7", 3)
                           MACE_CHANNEL("4", "5", 4) MACE_CHANNEL("6", "7", 5)
                               MACE_CHANNEL("4", "5", 6) MACE_CHANNEL("6", "7", 7) "b.ne 1b"
                   : MACE_ROW_SUMS(0), MACE_ROW_SUMS(1), MACE_ROW_SUMS(2),
                     MACE_ROW_SUMS(3), [a] "+r"(a), [w] "+r"(w), [steps] "+r"(steps)
                   :
                   : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "cc", "memory");
}

#undef MACE_ROW_SUMS
#undef MACE_CHANNEL
#undef MACE_ROW

#else

// Four rows by eight columns.
inline constexpr int kTileVectors = 2;

#define MACE_ROW(r, w0, w1, x)                \
  "vmlal.s16 %q[s" #r "0], d" w0 ", d" x "\n" \
  "vmlal.s16 %q[s" #r "1], d" w1 ", d" x "\n"
// Element k of d0, d2, d4, d6, or of d1, d3, d5, d7.
#define MACE_CHANNEL(w0, w1, x0, x1, x2, x3, k) \
  MACE_ROW(0, w0, w1, x0 "[" #k "]")            \
  MACE_ROW(1, w0, w1, x1 "[" #k "]")            \
  MACE_ROW(2, w0, w1, x2 "[" #k "]") MACE_ROW(3, w0, w1, x3 "[" #k "]")
#define MACE_FOUR(x0, x1, x2, x3)                                                             \
  "vld1.16 {d8-d11}, [%[w]]!\n"                                                               \
  "vld1.16 {d12-d15}, [%[w]]!\n" MACE_CHANNEL("8", "9", x0, x1, x2, x3, 0)                    \
      MACE_CHANNEL("10", "11", x0, x1, x2, x3, 1) MACE_CHANNEL("12", "13", x0, x1, x2, x3, 2) \
          MACE_CHANNEL("14", "15", x0, x1, x2, x3, 3)

// As above; w: [steps * 8][8].
MACE_SIMD_INLINE void AddChannels(const int16_t *&a,
                                  const int16_t *w,
                                  size_t steps,
                                  sv::VI (&s)[kTileRows][kTileVectors]) {
  __asm__ volatile("1:\n"
                   "vld1.16 {d0-d3}, [%[a]]!\n"
                   "vld1.16 {d4-d7}, [%[a]]!\n"
                   "subs %[steps], %[steps], #1\n" MACE_FOUR("0", "2", "4", "6")
                       MACE_FOUR("1", "3", "5", "7") "bne 1b"
                   : MACE_ROW_SUMS_2(0), MACE_ROW_SUMS_2(1), MACE_ROW_SUMS_2(2),
                     MACE_ROW_SUMS_2(3), [a] "+r"(a), [w] "+r"(w), [steps] "+r"(steps)
                   :
                   : "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
}

#undef MACE_FOUR
#undef MACE_CHANNEL
#undef MACE_ROW

#endif

#undef MACE_ROW_SUMS_2

}  // namespace mace::winograd::MACE_ISA

#endif  // MACE_KERNELS_CPU_WINOGRAD_NEON_QUANTIZED_TILE_H_
