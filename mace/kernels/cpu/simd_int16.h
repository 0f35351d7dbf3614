// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Quantized elements of 16 bits: their products with weights of int8, and the
// way from sums to results. A kernel source includes this beside simd.h, whose
// conventions apply.

#ifndef MACE_KERNELS_CPU_SIMD_INT16_H_
#define MACE_KERNELS_CPU_SIMD_INT16_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/simd_arithmetic.h"

namespace mace::simd::MACE_ISA {

typedef int16_t VI16 __attribute__((vector_size(kLanes * 2)));

MACE_SIMD_INLINE VI16 LoadInt16(const int16_t *p) {
  VI16 v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}
// The first `n` of them, or all if there are so many; the others are 0.
MACE_SIMD_INLINE VI16 LoadInt16N(const int16_t *p, size_t n) {
  if (n >= kLanes) return LoadInt16(p);
  VI16 v{};
  __builtin_memcpy(&v, p, n * sizeof(*p));
  return v;
}
MACE_SIMD_INLINE void StoreInt16N(int16_t *p, VI16 v, size_t n) {
  if (n >= kLanes) {
    __builtin_memcpy(p, &v, sizeof(v));
  } else {
    __builtin_memcpy(p, &v, n * sizeof(*p));
  }
}
MACE_SIMD_INLINE VI WidenInt16(VI16 x) {
  return __builtin_convertvector(x, VI);
}

// ---- results ----------------------------------------------------------------

// clamp(round(x) + zero, low, high), ties to even.
struct Int16Results {
  VD low;  // of x
  VD high;
  VI zero;
};
// `p` has zero, low and high.
template <typename Params>
MACE_SIMD_INLINE Int16Results MakeInt16Results(const Params &p) {
  return {SetDouble(p.low - p.zero), SetDouble(p.high - p.zero),
          SetInt(p.zero)};
}
MACE_SIMD_INLINE VI16 ToInt16(const Int16Results &to, VD x) {
  x = SelectDouble(x > to.low, x, to.low);
  x = SelectDouble(x < to.high, x, to.high);
  // Such a sum has no bits for fractions.
  const VD magic = SetDouble(0x1.8p52);
  x = (x + magic) - magic;
  return __builtin_convertvector(__builtin_convertvector(x, VI) + to.zero,
                                 VI16);
}

// ---- products ---------------------------------------------------------------
// A step multiplies four consecutive elements of K by a panel of 16 columns:
//
//   column n of sum += x[0] * w[n][0] + ... + x[3] * w[n][3]
//
// A product is at most 2^22, so the sum of kMostInt16Products fits int32.

inline constexpr size_t kMostInt16Products = (size_t{1} << 9) - 1;

// Of a panel.
inline constexpr int kInt16Vectors = 16 / kLanes;

#if defined(__SSE4_1__)

// A column has two elements of K side by side.
struct Int16Weights {
  VI first[kInt16Vectors];   // elements 0 and 1
  VI second[kInt16Vectors];  // elements 2 and 3
};
struct Int16Four {
  VI first;
  VI second;
};

// `w`: [16][4].
MACE_SIMD_INLINE Int16Weights LoadInt16Weights(const int8_t *w) {
  // A weight becomes the upper byte of 16 bits, which are then shifted.
  VI first;
  VI second;
  for (int i = 0; i < kLanes; ++i) {
    const int at = i % 4 * 4;
    first[i] = ((at + 1) << 24) | 0x800000 | (at << 8) | 0x80;
    second[i] = ((at + 3) << 24) | 0x800000 | ((at + 2) << 8) | 0x80;
  }
  Int16Weights to;
  for (int v = 0; v < kInt16Vectors; ++v) {
    X86Vector all;
    __builtin_memcpy(&all, w + v * kLanes * 4, sizeof(all));
    to.first[v] = (VI)MACE_X86(
        srai_epi16, MACE_X86(shuffle_epi8, all, (X86Vector)first), 8);
    to.second[v] = (VI)MACE_X86(
        srai_epi16, MACE_X86(shuffle_epi8, all, (X86Vector)second), 8);
  }
  return to;
}
MACE_SIMD_INLINE Int16Four LoadInt16Four(const int16_t *x) {
  int32_t pairs[2];
  __builtin_memcpy(pairs, x, sizeof(pairs));
  return {SetInt(pairs[0]), SetInt(pairs[1])};
}
MACE_SIMD_INLINE VI AddPairs(VI sum, VI x, VI w) {
#if defined(__AVX512VNNI__)
  return (VI)_mm512_dpwssd_epi32((__m512i)sum, (__m512i)x, (__m512i)w);
#elif defined(__AVXVNNI__)
  return (VI)_mm256_dpwssd_avx_epi32((__m256i)sum, (__m256i)x, (__m256i)w);
#else
  return sum + (VI)MACE_X86(madd_epi16, (X86Vector)x, (X86Vector)w);
#endif
}
MACE_SIMD_INLINE void AddInt16Four(const Int16Four &x,
                                   const Int16Weights &w,
                                   VI (&sum)[kInt16Vectors]) {
  for (int v = 0; v < kInt16Vectors; ++v) {
    sum[v] =
        AddPairs(AddPairs(sum[v], x.first, w.first[v]), x.second, w.second[v]);
  }
}

#else

using Int16Weights = int8x16x4_t;  // for each element of K, its columns
using Int16Four = int16x4_t;

MACE_SIMD_INLINE Int16Weights LoadInt16Weights(const int8_t *w) {
  return vld4q_s8(w);
}
MACE_SIMD_INLINE Int16Four LoadInt16Four(const int16_t *x) {
  return vld1_s16(x);
}
template <int kElement>
MACE_SIMD_INLINE void AddElement(Int16Four x,
                                 int8x16_t w,
                                 VI (&sum)[kInt16Vectors]) {
  const int16x8_t low = vmovl_s8(vget_low_s8(w));
  const int16x8_t high = vmovl_s8(vget_high_s8(w));
  sum[0] =
      (VI)vmlal_lane_s16((int32x4_t)sum[0], vget_low_s16(low), x, kElement);
  sum[1] =
      (VI)vmlal_lane_s16((int32x4_t)sum[1], vget_high_s16(low), x, kElement);
  sum[2] =
      (VI)vmlal_lane_s16((int32x4_t)sum[2], vget_low_s16(high), x, kElement);
  sum[3] =
      (VI)vmlal_lane_s16((int32x4_t)sum[3], vget_high_s16(high), x, kElement);
}
MACE_SIMD_INLINE void AddInt16Four(Int16Four x,
                                   const Int16Weights &w,
                                   VI (&sum)[kInt16Vectors]) {
  AddElement<0>(x, w.val[0], sum);
  AddElement<1>(x, w.val[1], sum);
  AddElement<2>(x, w.val[2], sum);
  AddElement<3>(x, w.val[3], sum);
}

#endif

}  // namespace mace::simd::MACE_ISA

#endif  // MACE_KERNELS_CPU_SIMD_INT16_H_
