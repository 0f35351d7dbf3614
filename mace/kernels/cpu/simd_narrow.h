// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Conversion of 16-bit and 8-bit numbers in memory to floats and back. Include
// simd.h, which states the conventions.

#ifndef MACE_KERNELS_CPU_SIMD_NARROW_H_
#define MACE_KERNELS_CPU_SIMD_NARROW_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/simd_vector.h"

namespace mace::simd::MACE_ISA {

// ---- 16-bit storage --------------------------------------------------------

MACE_SIMD_INLINE VH LoadHalfBits(const uint16_t *p) {
  VH v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}
MACE_SIMD_INLINE VH LoadHalfBitsN(const uint16_t *p, int n) {
  VH v{};
  __builtin_memcpy(&v, p, static_cast<size_t>(n) * 2);
  return v;
}
MACE_SIMD_INLINE void StoreHalfBits(uint16_t *p, VH v) {
  __builtin_memcpy(p, &v, sizeof(v));
}
MACE_SIMD_INLINE void StoreHalfBitsN(uint16_t *p, VH v, int n) {
  __builtin_memcpy(p, &v, static_cast<size_t>(n) * 2);
}

// bf16 is the upper half of a float.
MACE_SIMD_INLINE V WidenBf16(VH h) {
  return AsFloat(__builtin_convertvector(h, VU) << 16);
}
// Round to nearest even; a NaN stays a (quiet) NaN.
MACE_SIMD_INLINE VH NarrowBf16(V x) {
  const VU w = AsUint(x);
  const VU rounded = (w + 0x7fffu + ((w >> 16) & 1u)) >> 16;
  const VU nan = (w >> 16) | 0x40u;
  const VI is_nan = (x != x);
  return __builtin_convertvector(is_nan ? nan : rounded, VH);
}

#if defined(__AVX512F__)
MACE_SIMD_INLINE V WidenF16(VH h) {
  return _mm512_cvtph_ps(reinterpret_cast<__m256i>(h));
}
MACE_SIMD_INLINE VH NarrowF16(V x) {
  return reinterpret_cast<VH>(
      _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#elif defined(__F16C__)
MACE_SIMD_INLINE V WidenF16(VH h) {
  return _mm256_cvtph_ps(reinterpret_cast<__m128i>(h));
}
MACE_SIMD_INLINE VH NarrowF16(V x) {
  return reinterpret_cast<VH>(
      _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#elif defined(__ARM_NEON)
MACE_SIMD_INLINE V WidenF16(VH h) {
  return vcvt_f32_f16(reinterpret_cast<float16x4_t>(h));
}
MACE_SIMD_INLINE VH NarrowF16(V x) {
  return reinterpret_cast<VH>(vcvt_f16_f32(x));
}
#else
// sse41 has no conversion instruction.
// Widening: the exponent moves up by 13 bits and a multiplication by 2^112
// corrects its bias, subnormals included; Inf and NaN get the full exponent.
MACE_SIMD_INLINE V WidenF16(VH h) {
  const VU w = __builtin_convertvector(h, VU);
  const VU magnitude = (w & 0x7fffu) << 13;
  const VU finite = AsUint(AsFloat(magnitude) * 0x1p112f);
  const VU special = magnitude | 0x7f800000u;
  const VI is_special = (magnitude >= (VU{} + (0x7c00u << 13)));
  return AsFloat(((w & 0x8000u) << 16) | (is_special ? special : finite));
}
// Narrowing rounds to nearest even. Below 2^-14, adding 0.5, whose last bit is
// fp16's smallest subnormal, rounds and leaves the result in the low bits.
MACE_SIMD_INLINE VH NarrowF16(V x) {
  const VU w = AsUint(x);
  const VU a = w & 0x7fffffffu;
  const VU normal = (a + 0xfffu + ((a >> 13) & 1u) - (112u << 23)) >> 13;
  const VU tiny = AsUint(AsFloat(a) + 0.5f) - 0x3f000000u;
  const VU nan = 0x7e00u | ((a >> 13) & 0x1ffu);
  VU r = (a < (VU{} + 0x38800000u)) ? tiny : normal;
  r = (a >= (VU{} + 0x477ff000u)) ? (VU{} + 0x7c00u) : r;
  r = (a > (VU{} + 0x7f800000u)) ? nan : r;
  return __builtin_convertvector(r | ((w >> 16) & 0x8000u), VH);
}
#endif

MACE_SIMD_INLINE V LoadF16(const uint16_t *p) {
  return WidenF16(LoadHalfBits(p));
}
MACE_SIMD_INLINE V LoadBf16(const uint16_t *p) {
  return WidenBf16(LoadHalfBits(p));
}
MACE_SIMD_INLINE V LoadF16N(const uint16_t *p, int n) {
  return WidenF16(LoadHalfBitsN(p, n));
}
MACE_SIMD_INLINE V LoadBf16N(const uint16_t *p, int n) {
  return WidenBf16(LoadHalfBitsN(p, n));
}
MACE_SIMD_INLINE void StoreF16(uint16_t *p, V v) {
  StoreHalfBits(p, NarrowF16(v));
}
MACE_SIMD_INLINE void StoreBf16(uint16_t *p, V v) {
  StoreHalfBits(p, NarrowBf16(v));
}
MACE_SIMD_INLINE void StoreF16N(uint16_t *p, V v, int n) {
  StoreHalfBitsN(p, NarrowF16(v), n);
}
MACE_SIMD_INLINE void StoreBf16N(uint16_t *p, V v, int n) {
  StoreHalfBitsN(p, NarrowBf16(v), n);
}

// ---- int8 ------------------------------------------------------------------

MACE_SIMD_INLINE V LoadInt8(const int8_t *p) {
  VI8 bytes;
  __builtin_memcpy(&bytes, p, sizeof(bytes));
  return __builtin_convertvector(__builtin_convertvector(bytes, VI), V);
}

// Sixteen adjacent int8 as floats.
inline constexpr int kSixteenVectors = 16 / kLanes;
MACE_SIMD_INLINE void LoadSixteenInt8(const int8_t *p,
                                      V (&v)[kSixteenVectors]) {
#if defined(__ARM_NEON)
  // One load; its halves are widened by instructions for halves.
  const int8x16_t bytes = vld1q_s8(p);
  const int16x8_t halves[2] = {vmovl_s8(vget_low_s8(bytes)),
                               vmovl_s8(vget_high_s8(bytes))};
  for (int i = 0; i < 2; ++i) {
    v[2 * i] = vcvtq_f32_s32(vmovl_s16(vget_low_s16(halves[i])));
    v[2 * i + 1] = vcvtq_f32_s32(vmovl_s16(vget_high_s16(halves[i])));
  }
#else
  for (int i = 0; i < kSixteenVectors; ++i) v[i] = LoadInt8(p + i * kLanes);
#endif
}

// ---- pairs of bf16 ---------------------------------------------------------
// A 32-bit lane holds two numbers that are adjacent in memory, the first one in
// the lower half.

MACE_SIMD_INLINE VU LoadBf16Pairs(const uint16_t *p) {
  VU v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}
MACE_SIMD_INLINE V EarlierBf16(VU pairs) { return AsFloat(pairs << 16); }
MACE_SIMD_INLINE V LaterBf16(VU pairs) { return AsFloat(pairs & 0xffff0000u); }

#if defined(__AVX512BF16__)
// The pair at p in every lane.
MACE_SIMD_INLINE VU SetBf16Pair(const uint16_t *p) {
  int32_t bits;
  __builtin_memcpy(&bits, p, sizeof(bits));
  return reinterpret_cast<VU>(_mm512_set1_epi32(bits));
}
// Of the 8 pairs at p, the one that each lane selects.
MACE_SIMD_INLINE VU SpreadBf16Pairs(const uint16_t *p, VI lanes) {
  __m256i pairs;
  __builtin_memcpy(&pairs, p, sizeof(pairs));
  return reinterpret_cast<VU>(_mm512_permutexvar_epi32(
      reinterpret_cast<__m512i>(lanes), _mm512_zextsi256_si512(pairs)));
}
// acc + the second products + the first products, each step rounded to nearest;
// subnormal numbers count as 0.
MACE_SIMD_INLINE V DotBf16Pairs(V acc, VU a, VU b) {
  return _mm512_dpbf16_ps(acc, reinterpret_cast<__m512bh>(a),
                          reinterpret_cast<__m512bh>(b));
}
// Spreads the first 12 lanes into groups of three, each followed by a 0.
MACE_SIMD_INLINE V SpreadThrees(V x) {
  static_assert(kLanes == 16, "four times three and a 0");
  const VI from = {0, 1, 2, 0, 3, 4, 5, 0, 6, 7, 8, 0, 9, 10, 11, 0};
  return _mm512_maskz_permutexvar_ps(0x7777, reinterpret_cast<__m512i>(from),
                                     x);
}
// NarrowBf16 in one instruction; subnormal numbers become 0.
MACE_SIMD_INLINE VH NarrowBf16Fast(V x) {
  return reinterpret_cast<VH>(_mm512_cvtneps_pbh(x));
}
#endif

}  // namespace mace::simd::MACE_ISA

#endif  // MACE_KERNELS_CPU_SIMD_NARROW_H_
