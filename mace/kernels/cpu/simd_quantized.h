// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Quantized elements of 8 bits: uint8 on x86 and int8 elsewhere, as products of
// 8-bit integers read them in place (kDotRowsUnsigned in simd_dot.h). A kernel
// source includes this beside simd.h, whose conventions apply.

#ifndef MACE_KERNELS_CPU_SIMD_QUANTIZED_H_
#define MACE_KERNELS_CPU_SIMD_QUANTIZED_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/simd_arithmetic.h"
#include "mace/kernels/cpu/simd_dot.h"

namespace mace::simd::MACE_ISA {

// kLanes elements.
#if defined(__SSE4_1__)
using VQuantized = VU8;
#else
using VQuantized = VI8;
#endif

// The first `count` elements, at most kLanes; others are those of byte 0. Bytes
// are combined with `mask` (exclusive or).
MACE_SIMD_INLINE VI LoadQuantized(const uint8_t *p,
                                  size_t count,
                                  uint8_t mask) {
  VU8 bytes{};
  if (count == kLanes) {
    __builtin_memcpy(&bytes, p, kLanes);
  } else {
    __builtin_memcpy(&bytes, p, count);
  }
  bytes ^= mask;
  return __builtin_convertvector(reinterpret_cast<VQuantized>(bytes), VI);
}
MACE_SIMD_INLINE VI SetQuantized(uint8_t x, uint8_t mask) {
  const VU8 bytes = VU8{} + static_cast<uint8_t>(x ^ mask);
  return __builtin_convertvector(reinterpret_cast<VQuantized>(bytes), VI);
}
// The reverse of LoadQuantized, for numbers that fit.
MACE_SIMD_INLINE void StoreQuantized(uint8_t *p,
                                     VI q,
                                     size_t count,
                                     uint8_t mask) {
  VU8 bytes = reinterpret_cast<VU8>(__builtin_convertvector(q, VQuantized));
  bytes ^= mask;
  if (count == kLanes) {
    __builtin_memcpy(p, &bytes, kLanes);
  } else {
    __builtin_memcpy(p, &bytes, count);
  }
}

// What makes elements of sums: clamp(round(float(sum) * scale) + zero, low,
// high), ties to even.
struct Requantizer {
  V low;  // less the zero point: numbers are clamped before it is added,
          // exactly
  V high;
  VI zero;
};
// `p` has zero, low and high.
template <typename Params>
MACE_SIMD_INLINE Requantizer MakeRequantizer(const Params &p) {
  return {Set(static_cast<float>(p.low - p.zero)),
          Set(static_cast<float>(p.high - p.zero)), SetInt(p.zero)};
}
MACE_SIMD_INLINE VI Requantize(const Requantizer &to, VI sum, V scale) {
  return ToInt(Round(Clamp(ToFloat(sum) * scale, to.low, to.high))) + to.zero;
}

// ---- four vectors of sums, for kDotColumns elements -------------------------

// Numbers of 16 bits, of two vectors.
typedef int16_t VSteps __attribute__((vector_size(kLanes * 4)));

// As Requantizer. Here steps are limited after they were rounded, as bytes.
struct FourRequantizer {
  VSteps zero;
  VDotBytes low;
  VDotBytes high;
};
template <typename Params>
MACE_SIMD_INLINE FourRequantizer MakeFourRequantizer(const Params &p) {
  return {VSteps{} + static_cast<int16_t>(p.zero),
          VDotBytes{} + static_cast<uint8_t>(p.low),
          VDotBytes{} + static_cast<uint8_t>(p.high)};
}

// round(float(sum) * scale), ties to even. Beyond 2^20, any number beyond.
MACE_SIMD_INLINE VI StepsOf(VI sum, V scale) {
  const V x = ToFloat(sum) * scale;
#if defined(__AVX512F__)
  // Numbers that are too small become INT32_MIN, and so would the others.
  return reinterpret_cast<VI>(_mm512_cvtps_epi32(Min(x, Set(0x1p30f))));
#elif defined(__AVX2__)
  return reinterpret_cast<VI>(_mm256_cvtps_epi32(Min(x, Set(0x1p30f))));
#elif defined(__SSE4_1__)
  return reinterpret_cast<VI>(_mm_cvtps_epi32(Min(x, Set(0x1p30f))));
#elif defined(__aarch64__)
  return reinterpret_cast<VI>(vcvtnq_s32_f32(x));
#else
  // The sum has no bits for fractions.
  const V whole = Clamp(x, Set(-0x1p20f), Set(0x1p20f)) + Set(0x1.8p23f);
  return AsInt(whole) - AsInt(Set(0x1.8p23f));
#endif
}

// clamp(steps + zero, low, high), in the order of InterleaveDot.
MACE_SIMD_INLINE VDotBytes PackSteps(const FourRequantizer &to,
                                     const VI (&steps)[4]) {
#if defined(__SSE4_1__)
#if defined(__AVX512BW__)
#define MACE_STEPS(name, a, b) _mm512_##name((__m512i)(a), (__m512i)(b))
#elif defined(__AVX2__)
#define MACE_STEPS(name, a, b) _mm256_##name((__m256i)(a), (__m256i)(b))
#else
#define MACE_STEPS(name, a, b) _mm_##name((__m128i)(a), (__m128i)(b))
#endif
  const auto first = MACE_STEPS(
      adds_epi16, MACE_STEPS(packs_epi32, steps[0], steps[1]), to.zero);
  const auto second = MACE_STEPS(
      adds_epi16, MACE_STEPS(packs_epi32, steps[2], steps[3]), to.zero);
  const auto bytes = MACE_STEPS(packus_epi16, first, second);
  return (VDotBytes)MACE_STEPS(min_epu8, MACE_STEPS(max_epu8, bytes, to.low),
                               to.high);
#undef MACE_STEPS
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
  const int8x16_t bytes = vcombine_s8(vqmovn_s16(first), vqmovn_s16(second));
  return (VDotBytes)vminq_s8(vmaxq_s8(bytes, (int8x16_t)to.low),
                             (int8x16_t)to.high);
#endif
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

// The first `n` elements.
MACE_SIMD_INLINE void StoreDotBytesN(uint8_t *p, VDotBytes bytes, size_t n) {
#if defined(__AVX512BW__)
  const __mmask64 first = n >= 64 ? ~0ull : (1ull << n) - 1;
  _mm512_mask_storeu_epi8(p, first, (__m512i)bytes);
#else
  __builtin_memcpy(p, &bytes, n);
#endif
}

// The numbers of LoadQuantized, in order.
MACE_SIMD_INLINE void LoadFour(const uint8_t *p,
                               size_t count,
                               uint8_t mask,
                               VI (&to)[4]) {
  VDotBytes bytes = count >= kDotColumns
                        ? LoadDotBytes(p)
                        : LoadDotBytesN(p, static_cast<int>(count));
  bytes ^= mask;
  for (int v = 0; v < 4; ++v) {
    VQuantized part;
    __builtin_memcpy(&part, reinterpret_cast<const char *>(&bytes) + v * kLanes,
                     sizeof(part));
    to[v] = __builtin_convertvector(part, VI);
  }
}

}  // namespace mace::simd::MACE_ISA

#endif  // MACE_KERNELS_CPU_SIMD_QUANTIZED_H_
