// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// fp16 vectors and arithmetic, in addition to the float ones of simd.h: for
// extensions of an ISA that support it (neon_fp16). simd.h's conventions apply.

#ifndef MACE_KERNELS_CPU_SIMD_FP16_H_
#define MACE_KERNELS_CPU_SIMD_FP16_H_

#include "mace/kernels/cpu/simd.h"

#if !defined(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC)
#error "this ISA has no arithmetic of fp16"
#endif

namespace mace::simd::MACE_ISA {

// Not __fp16, for which the compiler would compute in float.
typedef _Float16 VF16 __attribute__((vector_size(16)));
inline constexpr int kF16Lanes = 8;

MACE_SIMD_INLINE VF16 LoadVF16(const uint16_t *p) {
  VF16 v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}
MACE_SIMD_INLINE void StoreVF16(uint16_t *p, VF16 v) {
  __builtin_memcpy(p, &v, sizeof(v));
}
// The number at p in every lane.
MACE_SIMD_INLINE VF16 SetVF16(const uint16_t *p) {
  return reinterpret_cast<VF16>(vld1q_dup_u16(p));
}
// Loads four adjacent vectors with one instruction.
MACE_SIMD_INLINE void LoadFourF16(const uint16_t *p, VF16 (&v)[4]) {
  const uint16x8x4_t x = vld1q_u16_x4(p);
  v[0] = reinterpret_cast<VF16>(x.val[0]);
  v[1] = reinterpret_cast<VF16>(x.val[1]);
  v[2] = reinterpret_cast<VF16>(x.val[2]);
  v[3] = reinterpret_cast<VF16>(x.val[3]);
}

MACE_SIMD_INLINE VF16 SetF16(float x) {
  return reinterpret_cast<VF16>(vdupq_n_f16(static_cast<float16_t>(x)));
}
// x is the data: simd.h's rule for NaN.
MACE_SIMD_INLINE VF16 MaxF16(VF16 x, VF16 bound) {
  return reinterpret_cast<VF16>(vmaxq_f16(
      reinterpret_cast<float16x8_t>(x), reinterpret_cast<float16x8_t>(bound)));
}
MACE_SIMD_INLINE VF16 MinF16(VF16 x, VF16 bound) {
  return reinterpret_cast<VF16>(vminq_f16(
      reinterpret_cast<float16x8_t>(x), reinterpret_cast<float16x8_t>(bound)));
}
MACE_SIMD_INLINE VF16 ClampF16(VF16 x, VF16 low, VF16 high) {
  return MinF16(MaxF16(x, low), high);
}

// acc + a * b, fused; with b[kLane].
MACE_SIMD_INLINE VF16 FmaF16(VF16 acc, VF16 a, VF16 b) {
  return reinterpret_cast<VF16>(vfmaq_f16(reinterpret_cast<float16x8_t>(acc),
                                          reinterpret_cast<float16x8_t>(a),
                                          reinterpret_cast<float16x8_t>(b)));
}
template <int kLane>
MACE_SIMD_INLINE VF16 FmaLaneF16(VF16 acc, VF16 a, VF16 b) {
  return reinterpret_cast<VF16>(vfmaq_laneq_f16(
      reinterpret_cast<float16x8_t>(acc), reinterpret_cast<float16x8_t>(a),
      reinterpret_cast<float16x8_t>(b), kLane));
}

// Lanes 0 to 3 and 4 to 7 as floats.
MACE_SIMD_INLINE V WidenLow(VF16 x) {
  return vcvt_f32_f16(vget_low_f16(reinterpret_cast<float16x8_t>(x)));
}
MACE_SIMD_INLINE V WidenHigh(VF16 x) {
  return vcvt_high_f32_f16(reinterpret_cast<float16x8_t>(x));
}
// To nearest even.
MACE_SIMD_INLINE VF16 NarrowTwo(V low, V high) {
  return reinterpret_cast<VF16>(vcvt_high_f16_f32(vcvt_f16_f32(low), high));
}
MACE_SIMD_INLINE uint16_t NarrowOneF16(float x) { return NarrowF16(Set(x))[0]; }

// The same with the names that simd.h has for float, for kernels that are
// compiled for several types (simd_element.h).
namespace half {

using Element = uint16_t;
using Weight = uint16_t;
using V = VF16;
inline constexpr int kLanes = kF16Lanes;
using simd::MACE_ISA::Advance;
using simd::MACE_ISA::kGeneralRegisters;
using simd::MACE_ISA::kLoadsStep;
using simd::MACE_ISA::kMaxKeepsNan;
using simd::MACE_ISA::kRegisters;
using simd::MACE_ISA::Opaque;

MACE_SIMD_INLINE V Zero() { return V{}; }
MACE_SIMD_INLINE V Set(float x) { return SetF16(x); }
MACE_SIMD_INLINE V SetElement(const Element *p) { return SetVF16(p); }

MACE_SIMD_INLINE V Load(const Element *p) { return LoadVF16(p); }
MACE_SIMD_INLINE void Store(Element *p, V v) { StoreVF16(p, v); }
MACE_SIMD_INLINE V LoadN(const Element *p, int n) {
  V v{};
  __builtin_memcpy(&v, p, static_cast<size_t>(n) * sizeof(Element));
  return v;
}
MACE_SIMD_INLINE void StoreN(Element *p, V v, int n) {
  __builtin_memcpy(p, &v, static_cast<size_t>(n) * sizeof(Element));
}
MACE_SIMD_INLINE V LoadWeight(const Weight *p) { return Load(p); }
MACE_SIMD_INLINE V LoadWeightN(const Weight *p, int n) { return LoadN(p, n); }
MACE_SIMD_INLINE void StoreWeight(Weight *p, V v) { Store(p, v); }
MACE_SIMD_INLINE void StoreWeightN(Weight *p, V v, int n) { StoreN(p, v, n); }
MACE_SIMD_INLINE V LoadF32(const float *p) {
  return NarrowTwo(simd::MACE_ISA::Load(p), simd::MACE_ISA::Load(p + 4));
}
MACE_SIMD_INLINE V LoadF32N(const float *p, int n) {
  float some[kLanes] = {};
  __builtin_memcpy(some, p, static_cast<size_t>(n) * sizeof(float));
  return LoadF32(some);
}
MACE_SIMD_INLINE V LoadF16N(const uint16_t *p, int n) { return LoadN(p, n); }
MACE_SIMD_INLINE V LoadBf16N(const uint16_t *p, int n) {
  uint16_t some[kLanes] = {};
  __builtin_memcpy(some, p, static_cast<size_t>(n) * sizeof(uint16_t));
  return NarrowTwo(LoadBf16(some), LoadBf16(some + 4));
}

MACE_SIMD_INLINE void StoreRounded(Element *p, simd::MACE_ISA::V v) {
  StoreF16(p, v);
}

MACE_SIMD_INLINE V Fma(V a, V b, V c) { return FmaF16(c, a, b); }
MACE_SIMD_INLINE V Max(V x, V bound) { return MaxF16(x, bound); }
MACE_SIMD_INLINE V Min(V x, V bound) { return MinF16(x, bound); }
MACE_SIMD_INLINE V Clamp(V x, V low, V high) { return ClampF16(x, low, high); }
// m is a comparison's result.
typedef int16_t VI __attribute__((vector_size(16)));
MACE_SIMD_INLINE V Select(VI m, V yes, V no) {
  return reinterpret_cast<V>((m & reinterpret_cast<VI>(yes)) |
                             (~m & reinterpret_cast<VI>(no)));
}

struct Sum {
  simd::MACE_ISA::V low;
  simd::MACE_ISA::V high;
};
MACE_SIMD_INLINE Sum ZeroSum() { return Sum{}; }
MACE_SIMD_INLINE Sum AddTo(Sum sum, V x) {
  return {sum.low + WidenLow(x), sum.high + WidenHigh(x)};
}
MACE_SIMD_INLINE Sum AddSums(Sum a, Sum b) {
  return {a.low + b.low, a.high + b.high};
}
MACE_SIMD_INLINE V Quotient(Sum sum, float divisor) {
  const simd::MACE_ISA::V d = simd::MACE_ISA::Set(divisor);
  return NarrowTwo(sum.low / d, sum.high / d);
}

}  // namespace half

}  // namespace mace::simd::MACE_ISA

#endif  // MACE_KERNELS_CPU_SIMD_FP16_H_
