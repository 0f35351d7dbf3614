// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Quantized elements of 8 bits: uint8 on x86 and int8 elsewhere, as products of
// 8-bit integers read them in place (kDotRowsUnsigned in simd_dot.h). A kernel
// source includes this beside simd.h, whose conventions apply.

#ifndef MACE_KERNELS_CPU_SIMD_QUANTIZED_H_
#define MACE_KERNELS_CPU_SIMD_QUANTIZED_H_

#include <cstddef>
#include <cstdint>
#include <limits>

#include "mace/kernels/cpu/simd_arithmetic.h"
#include "mace/kernels/cpu/simd_dot.h"

namespace mace::simd::MACE_ISA {

#if defined(__SSE4_1__)
using QuantizedElement = uint8_t;
#else
using QuantizedElement = int8_t;
#endif

// ---- from sums to kDotColumns elements --------------------------------------

// Numbers of 16 bits, of two vectors.
typedef int16_t VSteps __attribute__((vector_size(kLanes * 4)));

// What makes elements of steps: clamp(steps + zero, low, high).
struct Requantizer {
  VSteps zero;
  VDotBytes low;
  VDotBytes high;
};
// `p` has zero, low and high.
template <typename Params>
MACE_SIMD_INLINE Requantizer MakeRequantizer(const Params &p) {
  return {VSteps{} + static_cast<int16_t>(p.zero),
          VDotBytes{} + static_cast<uint8_t>(p.low),
          VDotBytes{} + static_cast<uint8_t>(p.high)};
}

// round(float(sum) * scale), ties to even. Beyond 2^20, any number beyond.
// kBounded: the product is below 2^30.
template <bool kBounded = false>
MACE_SIMD_INLINE VI StepsOf(VI sum, V scale) {
  V x = ToFloat(sum) * scale;
#if defined(__SSE4_1__)
  // Numbers that are too small become INT32_MIN, and so would the others.
  if constexpr (!kBounded) x = Min(x, Set(0x1p30f));
  return (VI)MACE_X86(cvtps_epi32, x);
#elif defined(__aarch64__)
  return reinterpret_cast<VI>(vcvtnq_s32_f32(x));
#else
  // The sum has no bits for fractions up to 2^22, and its bits grow with x as
  // long as it is not negative. If it is, the difference is negative, too: it
  // saturates.
  __asm__("" : "+w"(x));  // The product is rounded: no fused addition.
  const V whole = x + Set(0x1.8p23f);
  return (VI)vqsubq_s32((int32x4_t)AsInt(whole),
                        (int32x4_t)AsInt(Set(0x1.8p23f)));
#endif
}

// clamp(steps + zero) to the type's own limits, in the order of InterleaveDot.
MACE_SIMD_INLINE VDotBytes NarrowSteps(const Requantizer &to,
                                       const VI (&steps)[4]) {
#if defined(__SSE4_1__)
  const auto zero = (X86Vector)to.zero;
  const auto first = MACE_X86(
      adds_epi16,
      MACE_X86(packs_epi32, (X86Vector)steps[0], (X86Vector)steps[1]), zero);
  const auto second = MACE_X86(
      adds_epi16,
      MACE_X86(packs_epi32, (X86Vector)steps[2], (X86Vector)steps[3]), zero);
  return (VDotBytes)MACE_X86(packus_epi16, first, second);
#else
  const auto zero = (int16x8_t)to.zero;
  const int16x8_t first =
      vqaddq_s16(vcombine_s16(vqmovn_s32((int32x4_t)steps[0]),
                              vqmovn_s32((int32x4_t)steps[1])),
                 zero);
  const int16x8_t second =
      vqaddq_s16(vcombine_s16(vqmovn_s32((int32x4_t)steps[2]),
                              vqmovn_s32((int32x4_t)steps[3])),
                 zero);
  return (VDotBytes)vcombine_s8(vqmovn_s16(first), vqmovn_s16(second));
#endif
}
// clamp(bytes, low, high).
MACE_SIMD_INLINE VDotBytes LimitBytes(const Requantizer &to, VDotBytes bytes) {
#if defined(__SSE4_1__)
  return (VDotBytes)MACE_X86(
      min_epu8, MACE_X86(max_epu8, (X86Vector)bytes, (X86Vector)to.low),
      (X86Vector)to.high);
#else
  return (VDotBytes)vminq_s8(vmaxq_s8((int8x16_t)bytes, (int8x16_t)to.low),
                             (int8x16_t)to.high);
#endif
}

// The same in two parts, for 16 columns: steps of one vector, and then of all
// in their order, within the limits.
typedef uint8_t PanelElements __attribute__((vector_size(16)));
#if defined(__SSE4_1__)
struct PanelRequantizer {
  __m128i zero;
  __m128i low;
  __m128i high;
};
template <typename Params>
MACE_SIMD_INLINE PanelRequantizer MakePanelRequantizer(const Params &p) {
  return {_mm_set1_epi16(static_cast<int16_t>(p.zero)),
          _mm_set1_epi8(static_cast<char>(p.low)),
          _mm_set1_epi8(static_cast<char>(p.high))};
}
MACE_SIMD_INLINE void StoreSteps(int16_t *to, VI steps) {
#if defined(__AVX512F__)
  _mm256_storeu_si256(reinterpret_cast<__m256i *>(to),
                      _mm512_cvtsepi32_epi16((__m512i)steps));
#elif defined(__AVX2__)
  const auto low = _mm256_castsi256_si128((__m256i)steps);
  const auto high = _mm256_extracti128_si256((__m256i)steps, 1);
  _mm_storeu_si128(reinterpret_cast<__m128i *>(to), _mm_packs_epi32(low, high));
#else
  _mm_storel_epi64(reinterpret_cast<__m128i *>(to),
                   _mm_packs_epi32((__m128i)steps, (__m128i)steps));
#endif
}
MACE_SIMD_INLINE PanelElements NarrowStored(const PanelRequantizer &to,
                                            const int16_t *steps) {
  __m128i all[2];
  __builtin_memcpy(all, steps, sizeof(all));
  const __m128i bytes = _mm_packus_epi16(_mm_adds_epi16(all[0], to.zero),
                                         _mm_adds_epi16(all[1], to.zero));
  return (PanelElements)_mm_min_epu8(_mm_max_epu8(bytes, to.low), to.high);
}
#else
using PanelRequantizer = Requantizer;
template <typename Params>
MACE_SIMD_INLINE PanelRequantizer MakePanelRequantizer(const Params &p) {
  return MakeRequantizer(p);
}
MACE_SIMD_INLINE void StoreSteps(int16_t *to, VI steps) {
  vst1_s16(to, vqmovn_s32((int32x4_t)steps));
}
MACE_SIMD_INLINE PanelElements NarrowStored(const PanelRequantizer &to,
                                            const int16_t *steps) {
  const auto zero = (int16x8_t)to.zero;
  const int16x8_t first = vqaddq_s16(vld1q_s16(steps), zero);
  const int16x8_t second = vqaddq_s16(vld1q_s16(steps + 8), zero);
  return LimitBytes(
      to, (VDotBytes)vcombine_s8(vqmovn_s16(first), vqmovn_s16(second)));
}
#endif
// Whether LimitBytes may change anything.
template <typename Params>
MACE_SIMD_INLINE bool HasLimits(const Params &p) {
  using Limits = std::numeric_limits<QuantizedElement>;
  return p.low > Limits::min() || p.high < Limits::max();
}
// clamp(steps + zero, low, high), in the order of InterleaveDot.
MACE_SIMD_INLINE VDotBytes PackSteps(const Requantizer &to,
                                     const VI (&steps)[4]) {
  return LimitBytes(to, NarrowSteps(to, steps));
}

// From the order of InterleaveDot to that of the vectors.
MACE_SIMD_INLINE VDotBytes InOrder(VDotBytes bytes) {
#if defined(__AVX512BW__)
  return (VDotBytes)_mm512_permutexvar_epi32(
      _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15),
      (__m512i)bytes);
#elif defined(__AVX2__)
  return (VDotBytes)_mm256_permutevar8x32_epi32(
      (__m256i)bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
#else
  return bytes;
#endif
}

// The second half as the first one.
MACE_SIMD_INLINE VDotBytes UpperHalf(VDotBytes bytes) {
  VDotBytes to{};
  uint8_t all[kDotColumns];
  __builtin_memcpy(all, &bytes, sizeof(all));
  __builtin_memcpy(&to, all + kDotColumns / 2, kDotColumns / 2);
  return to;
}

// The first `n` elements.
MACE_SIMD_INLINE void StoreDotBytesN(uint8_t *p, VDotBytes bytes, size_t n) {
#if defined(__AVX512BW__)
  const __mmask64 first = n >= 64 ? ~0ull : (1ull << n) - 1;
  _mm512_mask_storeu_epi8(p, first, (__m512i)bytes);
#else
#if defined(__AVX2__)
  if (n % 4 == 0) {
    _mm256_maskstore_epi32(reinterpret_cast<int *>(p),
                           FirstLanes(static_cast<int>(n / 4)), (__m256i)bytes);
    return;
  }
#endif
  __builtin_memcpy(p, &bytes, n);
#endif
}

// `n` elements, or kDotColumns of them if there are more.
MACE_SIMD_INLINE VDotBytes LoadElements(const uint8_t *p,
                                        size_t n,
                                        uint8_t mask) {
  VDotBytes bytes = n >= kDotColumns ? LoadDotBytes(p)
                                     : LoadDotBytesN(p, static_cast<int>(n));
  bytes ^= mask;
  return bytes;
}
MACE_SIMD_INLINE void StoreElements(uint8_t *p,
                                    VDotBytes bytes,
                                    size_t n,
                                    uint8_t mask) {
  bytes ^= mask;
  if (n >= kDotColumns) {
    __builtin_memcpy(p, &bytes, sizeof(bytes));
  } else {
    StoreDotBytesN(p, bytes, n);
  }
}

// ---- two elements at a time, in the order of InterleaveDot ------------------

// A lane has two numbers of 16 bits: of its element of `a` and of `b`.
#if defined(__SSE4_1__)
MACE_SIMD_INLINE void PairUp(VDotBytes a, VDotBytes b, X86Vector (&to)[4]) {
  const auto zero = (X86Vector)VDotBytes{};
  const auto x = (X86Vector)a;
  const auto y = (X86Vector)b;
  const auto low = MACE_X86(unpacklo_epi8, x, y);
  const auto high = MACE_X86(unpackhi_epi8, x, y);
  to[0] = MACE_X86(unpacklo_epi8, low, zero);
  to[1] = MACE_X86(unpackhi_epi8, low, zero);
  to[2] = MACE_X86(unpacklo_epi8, high, zero);
  to[3] = MACE_X86(unpackhi_epi8, high, zero);
}
// The same two in each lane.
MACE_SIMD_INLINE X86Vector TwoShorts(int32_t a, int32_t b) {
  const uint32_t both =
      (static_cast<uint32_t>(b) << 16) | (static_cast<uint32_t>(a) & 0xffff);
  return (X86Vector)SetInt(static_cast<int32_t>(both));
}
#endif

// start + a * a_factor + b * b_factor, with factors of 22 bits with their
// signs.
MACE_SIMD_INLINE void SumOfTwo(VDotBytes a,
                               VDotBytes b,
                               int32_t a_factor,
                               int32_t b_factor,
                               int32_t start,
                               VI (&to)[4]) {
#if defined(__SSE4_1__)
  // The processor multiplies numbers of 16 bits: x * f is x * 2^7 times the
  // high part of f plus x times the low part.
  constexpr int kLowBits = 7;
  constexpr int32_t kLow = (1 << kLowBits) - 1;
  X86Vector pairs[4];
  PairUp(a, b, pairs);
  const X86Vector low = TwoShorts(a_factor & kLow, b_factor & kLow);
  const X86Vector high = TwoShorts(a_factor >> kLowBits, b_factor >> kLowBits);
  for (int v = 0; v < 4; ++v) {
    const auto shifted = MACE_X86(slli_epi16, pairs[v], kLowBits);
    to[v] = (VI)MACE_X86(madd_epi16, pairs[v], low) + start +
            (VI)MACE_X86(madd_epi16, shifted, high);
  }
#else
  const auto x = (int8x16_t)a;
  const auto y = (int8x16_t)b;
  const int16x8_t x16[2] = {vmovl_s8(vget_low_s8(x)),
                            vmovl_s8(vget_high_s8(x))};
  const int16x8_t y16[2] = {vmovl_s8(vget_low_s8(y)),
                            vmovl_s8(vget_high_s8(y))};
  const int32x4_t from = vdupq_n_s32(start);
  for (int h = 0; h < 2; ++h) {
    const int32x4_t x32[2] = {vmovl_s16(vget_low_s16(x16[h])),
                              vmovl_s16(vget_high_s16(x16[h]))};
    const int32x4_t y32[2] = {vmovl_s16(vget_low_s16(y16[h])),
                              vmovl_s16(vget_high_s16(y16[h]))};
    for (int i = 0; i < 2; ++i) {
      to[2 * h + i] = (VI)vmlaq_n_s32(vmlaq_n_s32(from, x32[i], a_factor),
                                      y32[i], b_factor);
    }
  }
#endif
}

// What is added before a shift to the right by `shift`, for it to round.
MACE_SIMD_INLINE int32_t HalfOf(int shift) {
  return shift == 0 ? 0 : int32_t{1} << (shift - 1);
}

// floor(((a - a_zero) * a_factor + (b - b_zero) * b_factor) / 2^shift + 1/2).
// `p` has zero points, factors and shift.
template <typename Params>
MACE_SIMD_INLINE void ScaledSumOfTwo(VDotBytes a,
                                     VDotBytes b,
                                     const Params &p,
                                     VI (&to)[4]) {
#if defined(__SSE4_1__)
  const int32_t start =
      HalfOf(p.shift) - p.a_zero * p.a_factor - p.b_zero * p.b_factor;
  SumOfTwo(a, b, p.a_factor, p.b_factor, start, to);
  for (VI &sum : to) sum = sum >> p.shift;
#else
  const auto x = (int8x16_t)a;
  const auto y = (int8x16_t)b;
  const int8x8_t x_zero = vdup_n_s8(static_cast<int8_t>(p.a_zero));
  const int8x8_t y_zero = vdup_n_s8(static_cast<int8_t>(p.b_zero));
  const int32x4_t left = vdupq_n_s32(-p.shift);
  const int16x8_t x16[2] = {vsubl_s8(vget_low_s8(x), x_zero),
                            vsubl_s8(vget_high_s8(x), x_zero)};
  const int16x8_t y16[2] = {vsubl_s8(vget_low_s8(y), y_zero),
                            vsubl_s8(vget_high_s8(y), y_zero)};
  for (int h = 0; h < 2; ++h) {
    const int32x4_t x32[2] = {vmovl_s16(vget_low_s16(x16[h])),
                              vmovl_s16(vget_high_s16(x16[h]))};
    const int32x4_t y32[2] = {vmovl_s16(vget_low_s16(y16[h])),
                              vmovl_s16(vget_high_s16(y16[h]))};
    for (int i = 0; i < 2; ++i) {
      const int32x4_t sum =
          vmlaq_n_s32(vmulq_n_s32(x32[i], p.a_factor), y32[i], p.b_factor);
      to[2 * h + i] = (VI)vrshlq_s32(sum, left);
    }
  }
#endif
}

// (a - a_zero) * (b - b_zero).
MACE_SIMD_INLINE void ProductOfTwo(
    VDotBytes a, VDotBytes b, int32_t a_zero, int32_t b_zero, VI (&to)[4]) {
#if defined(__SSE4_1__)
  X86Vector pairs[4];
  PairUp(a, b, pairs);
  const X86Vector zeros = TwoShorts(a_zero, b_zero);
  for (int v = 0; v < 4; ++v) {
    const auto both = MACE_X86(sub_epi16, pairs[v], zeros);
    const auto second = MACE_X86(srli_epi32, both, 16);
    to[v] = (VI)MACE_X86(madd_epi16, both, second);
  }
#else
  const int16x8_t p = vdupq_n_s16(static_cast<int16_t>(a_zero));
  const int16x8_t q = vdupq_n_s16(static_cast<int16_t>(b_zero));
  const auto x = (int8x16_t)a;
  const auto y = (int8x16_t)b;
  const int16x8_t x16[2] = {vsubq_s16(vmovl_s8(vget_low_s8(x)), p),
                            vsubq_s16(vmovl_s8(vget_high_s8(x)), p)};
  const int16x8_t y16[2] = {vsubq_s16(vmovl_s8(vget_low_s8(y)), q),
                            vsubq_s16(vmovl_s8(vget_high_s8(y)), q)};
  for (int h = 0; h < 2; ++h) {
    to[2 * h] = (VI)vmull_s16(vget_low_s16(x16[h]), vget_low_s16(y16[h]));
    to[2 * h + 1] = (VI)vmull_s16(vget_high_s16(x16[h]), vget_high_s16(y16[h]));
  }
#endif
}

MACE_SIMD_INLINE VDotBytes MaxElements(VDotBytes a, VDotBytes b) {
#if defined(__SSE4_1__)
  return (VDotBytes)MACE_X86(max_epu8, (X86Vector)a, (X86Vector)b);
#else
  return (VDotBytes)vmaxq_s8((int8x16_t)a, (int8x16_t)b);
#endif
}

// Sums of 16 bits: each of up to 256 elements.
struct ShortSums {
  VSteps low;
  VSteps high;
};
MACE_SIMD_INLINE void AddElements(VDotBytes x, ShortSums *sums) {
#if defined(__SSE4_1__)
  const auto zero = (X86Vector)VDotBytes{};
  sums->low = (VSteps)MACE_X86(add_epi16, (X86Vector)sums->low,
                               MACE_X86(unpacklo_epi8, (X86Vector)x, zero));
  sums->high = (VSteps)MACE_X86(add_epi16, (X86Vector)sums->high,
                                MACE_X86(unpackhi_epi8, (X86Vector)x, zero));
#else
  sums->low = (VSteps)vaddw_s8((int16x8_t)sums->low, vget_low_s8((int8x16_t)x));
  sums->high =
      (VSteps)vaddw_s8((int16x8_t)sums->high, vget_high_s8((int8x16_t)x));
#endif
}
MACE_SIMD_INLINE void WidenSums(const ShortSums &sums, VI (&to)[4]) {
#if defined(__SSE4_1__)
  // Without a sign.
  const auto zero = (X86Vector)VDotBytes{};
  const auto low = (X86Vector)sums.low;
  const auto high = (X86Vector)sums.high;
  to[0] = (VI)MACE_X86(unpacklo_epi16, low, zero);
  to[1] = (VI)MACE_X86(unpackhi_epi16, low, zero);
  to[2] = (VI)MACE_X86(unpacklo_epi16, high, zero);
  to[3] = (VI)MACE_X86(unpackhi_epi16, high, zero);
#else
  to[0] = (VI)vmovl_s16(vget_low_s16((int16x8_t)sums.low));
  to[1] = (VI)vmovl_s16(vget_high_s16((int16x8_t)sums.low));
  to[2] = (VI)vmovl_s16(vget_low_s16((int16x8_t)sums.high));
  to[3] = (VI)vmovl_s16(vget_high_s16((int16x8_t)sums.high));
#endif
}
MACE_SIMD_INLINE void WidenElements(VDotBytes x, VI (&to)[4]) {
  ShortSums sums{};
  AddElements(x, &sums);
  WidenSums(sums, to);
}

}  // namespace mace::simd::MACE_ISA

#endif  // MACE_KERNELS_CPU_SIMD_QUANTIZED_H_
