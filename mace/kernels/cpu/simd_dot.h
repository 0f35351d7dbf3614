// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Products of 8-bit integers, four of which are added to a 32-bit sum. A kernel
// source includes this beside simd.h, whose conventions apply.
//
// A lane of a DotSum is a column; a step multiplies four consecutive elements
// of K:
//
//   lane n of sum += x[0] * w[n][0] + ... + x[3] * w[n][3]
//
// w are int8, 4 * kLanes of them. x are 8-bit integers too, but stored in the
// form that the instructions need (DotElement, PutDotFour): with an offset of
// 128 if kDotUnsigned. There is no saturation; sums wrap around like uint32_t.

#ifndef MACE_KERNELS_CPU_SIMD_DOT_H_
#define MACE_KERNELS_CPU_SIMD_DOT_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/simd_memory.h"
#include "mace/kernels/cpu/simd_vector.h"

// The instruction that adds four products of uint8 and int8.
#if defined(__AVX512VNNI__)
#define MACE_DPBUSD(sum, x, w)                        \
  _mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sum), \
                      reinterpret_cast<__m512i>(x),   \
                      reinterpret_cast<__m512i>(w))
#elif defined(__AVXVNNI__)
#define MACE_DPBUSD(sum, x, w)                            \
  _mm256_dpbusd_avx_epi32(reinterpret_cast<__m256i>(sum), \
                          reinterpret_cast<__m256i>(x),   \
                          reinterpret_cast<__m256i>(w))
#endif

namespace mace::simd::MACE_ISA {

inline constexpr int kDotFour = 4;

typedef int8_t VDot __attribute__((vector_size(kLanes * 4)));

MACE_SIMD_INLINE int32_t DotBits(const void *p) {
  int32_t bits;
  __builtin_memcpy(&bits, p, sizeof(bits));
  return bits;
}

#if defined(MACE_DPBUSD)

// The instruction multiplies uint8 by int8.
using DotElement = uint8_t;
inline constexpr bool kDotUnsigned = true;
using DotSum = VI;
using DotWeights = VDot;
using DotX = VI;
#if defined(__AVX512VNNI__)
inline constexpr int kDotRows = 12;
#else
inline constexpr int kDotRows = 6;
#endif
inline constexpr int kDotVectors = 2;

MACE_SIMD_INLINE DotWeights PrepareDot(VDot w) { return w; }
MACE_SIMD_INLINE DotX SetDot(const DotElement *p) { return SetInt(DotBits(p)); }
MACE_SIMD_INLINE DotSum Dot4(DotSum sum, DotX x, DotWeights w) {
  return reinterpret_cast<VI>(MACE_DPBUSD(sum, x, w));
}
MACE_SIMD_INLINE DotSum SetDotSum(VI x) { return x; }
MACE_SIMD_INLINE DotSum AddToDotSum(DotSum sum, VI x) {
  return reinterpret_cast<VI>(reinterpret_cast<VU>(sum) +
                              reinterpret_cast<VU>(x));
}
MACE_SIMD_INLINE VI DotLanes(DotSum sum) { return sum; }

#elif defined(__SSE4_1__)

// Uses pairs of 16-bit numbers, elements k and k + 2: for w, two shifts extract
// them; x is stored this way. (The instruction for bytes saturates.)
using DotElement = int16_t;
inline constexpr bool kDotUnsigned = false;
typedef int16_t VDot16 __attribute__((vector_size(kLanes * 4)));
typedef uint16_t VDotU16 __attribute__((vector_size(kLanes * 4)));
struct DotWeights {
  VDot16 even;
  VDot16 odd;
};
struct DotX {
  VI even;
  VI odd;
};
using DotSum = VI;
#if defined(__AVX512F__)
inline constexpr int kDotRows = 8;
#else
inline constexpr int kDotRows = 4;
#endif
inline constexpr int kDotVectors = 2;

MACE_SIMD_INLINE DotWeights PrepareDot(VDot w) {
  const VDotU16 pairs = reinterpret_cast<VDotU16>(w);
  return {reinterpret_cast<VDot16>(pairs << 8) >> 8,
          reinterpret_cast<VDot16>(pairs) >> 8};
}
MACE_SIMD_INLINE DotX SetDot(const DotElement *p) {
  return {SetInt(DotBits(p)), SetInt(DotBits(p + 2))};
}
MACE_SIMD_INLINE VI MultiplyPairs(VI x, VDot16 w) {
  return (VI)MACE_X86(madd_epi16, (X86Vector)x, (X86Vector)w);
}
MACE_SIMD_INLINE DotSum Dot4(DotSum sum, DotX x, const DotWeights &w) {
  const VU even = reinterpret_cast<VU>(MultiplyPairs(x.even, w.even));
  const VU odd = reinterpret_cast<VU>(MultiplyPairs(x.odd, w.odd));
  return reinterpret_cast<VI>(reinterpret_cast<VU>(sum) + even + odd);
}
MACE_SIMD_INLINE DotSum SetDotSum(VI x) { return x; }
MACE_SIMD_INLINE DotSum AddToDotSum(DotSum sum, VI x) {
  return reinterpret_cast<VI>(reinterpret_cast<VU>(sum) +
                              reinterpret_cast<VU>(x));
}
MACE_SIMD_INLINE VI DotLanes(DotSum sum) { return sum; }

#else

using DotElement = int8_t;
inline constexpr bool kDotUnsigned = false;
using DotWeights = int8x16_t;
using DotX = int8x16_t;

MACE_SIMD_INLINE DotWeights PrepareDot(VDot w) {
  return reinterpret_cast<int8x16_t>(w);
}
MACE_SIMD_INLINE DotX SetDot(const DotElement *p) {
  return vreinterpretq_s8_s32(vdupq_n_s32(DotBits(p)));
}

#if defined(__ARM_FEATURE_DOTPROD)

using DotSum = VI;
inline constexpr int kDotRows = 6;
inline constexpr int kDotVectors = 4;

MACE_SIMD_INLINE DotSum Dot4(DotSum sum, DotX x, DotWeights w) {
  return reinterpret_cast<VI>(
      vdotq_s32(reinterpret_cast<int32x4_t>(sum), w, x));
}
MACE_SIMD_INLINE DotSum SetDotSum(VI x) { return x; }
MACE_SIMD_INLINE DotSum AddToDotSum(DotSum sum, VI x) {
  return reinterpret_cast<VI>(reinterpret_cast<VU>(sum) +
                              reinterpret_cast<VU>(x));
}
MACE_SIMD_INLINE VI DotLanes(DotSum sum) { return sum; }

#else

// Two sums per column: a product fits 16 bits, but the sum of two does not.
struct DotSum {
  int32x4_t low;
  int32x4_t high;
};
#if defined(__aarch64__)
inline constexpr int kDotRows = 4;
#else
inline constexpr int kDotRows = 2;
#endif
inline constexpr int kDotVectors = 2;

MACE_SIMD_INLINE DotSum Dot4(DotSum sum, DotX x, DotWeights w) {
  const int16x8_t low = vmull_s8(vget_low_s8(w), vget_low_s8(x));
  const int16x8_t high = vmull_s8(vget_high_s8(w), vget_high_s8(x));
  return {vpadalq_s16(sum.low, low), vpadalq_s16(sum.high, high)};
}
// Both products of two fours, faster. No weight may be -128: then the sum of
// two products fits 16 bits.
MACE_SIMD_INLINE DotSum DotTwice(DotSum sum,
                                 const DotX (&x)[2],
                                 const DotWeights (&w)[2]) {
  const int16x8_t low = vmlal_s8(vmull_s8(vget_low_s8(w[0]), vget_low_s8(x[0])),
                                 vget_low_s8(w[1]), vget_low_s8(x[1]));
#if defined(__aarch64__)
  const int16x8_t high = vmlal_high_s8(vmull_high_s8(w[0], x[0]), w[1], x[1]);
#else
  const int16x8_t high =
      vmlal_s8(vmull_s8(vget_high_s8(w[0]), vget_high_s8(x[0])),
               vget_high_s8(w[1]), vget_high_s8(x[1]));
#endif
  return {vpadalq_s16(sum.low, low), vpadalq_s16(sum.high, high)};
}
MACE_SIMD_INLINE DotSum SetDotSum(VI x) {
  const int32x4x2_t pairs = vzipq_s32((int32x4_t)x, vdupq_n_s32(0));
  return {pairs.val[0], pairs.val[1]};
}
MACE_SIMD_INLINE DotSum AddToDotSum(DotSum sum, VI x) {
  const DotSum other = SetDotSum(x);
  return {vaddq_s32(sum.low, other.low), vaddq_s32(sum.high, other.high)};
}
MACE_SIMD_INLINE VI DotLanes(DotSum sum) {
#if defined(__aarch64__)
  return reinterpret_cast<VI>(vpaddq_s32(sum.low, sum.high));
#else
  return reinterpret_cast<VI>(
      vcombine_s32(vpadd_s32(vget_low_s32(sum.low), vget_high_s32(sum.low)),
                   vpadd_s32(vget_low_s32(sum.high), vget_high_s32(sum.high))));
#endif
}

#endif
#endif

// Rows that are multiplied as they are stored, without PutDotFour: of uint8 if
// kDotRowsUnsigned, otherwise of int8.
#if defined(__SSE4_1__)
inline constexpr bool kDotRowsUnsigned = true;
#else
inline constexpr bool kDotRowsUnsigned = false;
#endif
// `bits`: DotBits of four elements.
MACE_SIMD_INLINE DotX SetDotRow(int32_t bits) {
#if defined(MACE_DPBUSD)
  return SetInt(bits);
#elif defined(__SSE4_1__)
  const VU all = reinterpret_cast<VU>(SetInt(bits));
  const VU bytes = reinterpret_cast<VU>(SetInt(0x00ff00ff));
  return {reinterpret_cast<VI>(all & bytes),
          reinterpret_cast<VI>((all >> 8) & bytes)};
#else
  return vreinterpretq_s8_s32(vdupq_n_s32(bits));
#endif
}

#if defined(__SSE4_1__) && !defined(MACE_DPBUSD)
// Products of uint8 and int8, two of which are added in 16 bits and saturate:
// twice as fast as above, for weights with which no sum does.
#define MACE_SATURATING_BYTES
typedef int16_t VDotPairs __attribute__((vector_size(kLanes * 4)));

MACE_SIMD_INLINE VDotPairs MultiplyBytes(VI x, VDot w) {
  return (VDotPairs)MACE_X86(maddubs_epi16, (X86Vector)x, (X86Vector)w);
}
// Ones of 16 bits, in a register: compilers would read the constant again and
// again, and spread two bytes of it by an instruction of its own.
using DotOnes = VDotPairs;
MACE_SIMD_INLINE DotOnes MakeDotOnes() {
  DotOnes ones = DotOnes{} + 1;
  __asm__("" : "+x"(ones));
  return ones;
}
// Adds the two sums of each lane.
MACE_SIMD_INLINE DotSum AddPairs(DotSum sum, VDotPairs pairs, DotOnes ones) {
  const auto both = MACE_X86(madd_epi16, (X86Vector)pairs, (X86Vector)ones);
  return reinterpret_cast<VI>(reinterpret_cast<VU>(sum) + (VU)both);
}
#endif

#if !defined(__SSE4_1__)
// Sums that begin with the numbers of 4 * kLanes columns.
MACE_SIMD_INLINE void LoadDotSums(const int32_t *p, DotSum (&to)[4]) {
  // No vld1q_s32_x4: the sums would have to be in neighbouring registers.
  for (int v = 0; v < 4; ++v) {
    to[v] = SetDotSum(reinterpret_cast<VI>(vld1q_s32(p + v * kLanes)));
  }
}

// Four fours of a row, or the first kFours. On x86, an instruction that reads
// four elements from memory for all columns costs no more.
using DotRow = int8x16_t;
template <int kFours = 4>
MACE_SIMD_INLINE DotRow LoadDotRow(const void *p) {
  static_assert(kFours == 1 || kFours == 2 || kFours == 4);
  const auto *bytes = static_cast<const int8_t *>(p);
  if constexpr (kFours == 4) return vld1q_s8(bytes);
  if constexpr (kFours == 2) return vcombine_s8(vld1_s8(bytes), vdup_n_s8(0));
  return vreinterpretq_s8_s32(int32x4_t{DotBits(p), 0, 0, 0});
}
template <int kFour>
MACE_SIMD_INLINE DotX DotFourOf(DotRow row) {
  const int32x4_t fours = vreinterpretq_s32_s8(row);
#if defined(__aarch64__)
  return vreinterpretq_s8_s32(vdupq_laneq_s32(fours, kFour));
#else
  const int32x2_t half = kFour < 2 ? vget_low_s32(fours) : vget_high_s32(fours);
  return vreinterpretq_s8_s32(vdupq_lane_s32(half, kFour % 2));
#endif
}
#endif

// ---- four elements of each lane's own --------------------------------------

// 4 * kLanes elements as they are stored, of neighbouring columns.
typedef uint8_t VDotBytes __attribute__((vector_size(kLanes * 4)));
inline constexpr int kDotColumns = 4 * kLanes;

MACE_SIMD_INLINE VDotBytes LoadDotBytes(const uint8_t *p) {
  VDotBytes v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}
// The first `n` of them; the others are 0.
MACE_SIMD_INLINE VDotBytes LoadDotBytesN(const uint8_t *p, int n) {
#if defined(__AVX512BW__)
  const __mmask64 first = n >= 64 ? ~0ull : (1ull << n) - 1;
  return reinterpret_cast<VDotBytes>(_mm512_maskz_loadu_epi8(first, p));
#else
#if defined(__AVX2__)
  // A call that copies n bytes takes several times as long.
  if (n % 4 == 0) {
    return reinterpret_cast<VDotBytes>(_mm256_maskload_epi32(
        reinterpret_cast<const int *>(p), FirstLanes(n / 4)));
  }
#endif
  VDotBytes v{};
  __builtin_memcpy(&v, p, static_cast<size_t>(n));
  return v;
#endif
}

MACE_SIMD_INLINE void LoadDotFours(const uint8_t *p, VDotBytes (&to)[4]) {
#if defined(__SSE4_1__)
  __builtin_memcpy(to, p, sizeof(to));
#else
  const uint8x16x4_t all = vld1q_u8_x4(p);
  for (int v = 0; v < 4; ++v) to[v] = (VDotBytes)all.val[v];
#endif
}
MACE_SIMD_INLINE void StoreDotFours(uint8_t *p, const VDotBytes (&from)[4]) {
#if defined(__SSE4_1__)
  __builtin_memcpy(p, from, sizeof(from));
#else
  uint8x16x4_t all;
  for (int v = 0; v < 4; ++v) all.val[v] = (uint8x16_t)from[v];
  vst1q_u8_x4(p, all);
#endif
}

// Columns of each of four vectors side by side: vector v of `to` has, for every
// 16 columns c, columns c + 4 * v to c + 4 * v + 3. This order of columns is
// that of DotColumnOf.
MACE_SIMD_INLINE void InterleaveDot(const VDotBytes (&x)[4],
                                    VDotBytes (&to)[4]) {
#if defined(__SSE4_1__)
  const auto low01 = MACE_X86(unpacklo_epi8, (X86Vector)x[0], (X86Vector)x[1]);
  const auto high01 = MACE_X86(unpackhi_epi8, (X86Vector)x[0], (X86Vector)x[1]);
  const auto low23 = MACE_X86(unpacklo_epi8, (X86Vector)x[2], (X86Vector)x[3]);
  const auto high23 = MACE_X86(unpackhi_epi8, (X86Vector)x[2], (X86Vector)x[3]);
  to[0] =
      (VDotBytes)MACE_X86(unpacklo_epi16, (X86Vector)low01, (X86Vector)low23);
  to[1] =
      (VDotBytes)MACE_X86(unpackhi_epi16, (X86Vector)low01, (X86Vector)low23);
  to[2] =
      (VDotBytes)MACE_X86(unpacklo_epi16, (X86Vector)high01, (X86Vector)high23);
  to[3] =
      (VDotBytes)MACE_X86(unpackhi_epi16, (X86Vector)high01, (X86Vector)high23);
#else
  const uint8x16x2_t x01 = vzipq_u8((uint8x16_t)x[0], (uint8x16_t)x[1]);
  const uint8x16x2_t x23 = vzipq_u8((uint8x16_t)x[2], (uint8x16_t)x[3]);
  for (int half = 0; half < 2; ++half) {
    const uint16x8x2_t both = vzipq_u16(vreinterpretq_u16_u8(x01.val[half]),
                                        vreinterpretq_u16_u8(x23.val[half]));
    to[2 * half] = (VDotBytes)both.val[0];
    to[2 * half + 1] = (VDotBytes)both.val[1];
  }
#endif
}

// The column of a lane of vector `v`.
MACE_SIMD_INLINE constexpr int DotColumnOf(int v, int lane) {
  return lane / 4 * 16 + v * 4 + lane % 4;
}

// Interleaved elements, stored as in SetDotRow.
MACE_SIMD_INLINE DotX SetDotFours(VDotBytes x) {
#if defined(MACE_DPBUSD)
  return reinterpret_cast<VI>(x);
#elif defined(__SSE4_1__)
  const VU all = reinterpret_cast<VU>(x);
  const VU bytes = reinterpret_cast<VU>(SetInt(0x00ff00ff));
  return {reinterpret_cast<VI>(all & bytes),
          reinterpret_cast<VI>((all >> 8) & bytes)};
#else
  return reinterpret_cast<int8x16_t>(x);
#endif
}

// Stores four consecutive elements of K in the form that SetDot reads.
MACE_SIMD_INLINE void PutDotFour(DotElement *to, const int8_t (&x)[kDotFour]) {
#if defined(MACE_DPBUSD)
  for (int i = 0; i < kDotFour; ++i) {
    to[i] = static_cast<uint8_t>(x[i]) ^ uint8_t { 0x80 };
  }
#elif defined(__SSE4_1__)
  to[0] = x[0];
  to[1] = x[2];
  to[2] = x[1];
  to[3] = x[3];
#else
  for (int i = 0; i < kDotFour; ++i) to[i] = x[i];
#endif
}

#undef MACE_DPBUSD

}  // namespace mace::simd::MACE_ISA

#endif  // MACE_KERNELS_CPU_SIMD_DOT_H_
