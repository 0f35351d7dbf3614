// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Vectors of fp16 with arithmetic, beside simd.h's of float: for extensions of
// an ISA that have it (neon_fp16). simd.h's conventions hold.

#ifndef MACE_KERNELS_CPU_SIMD_FP16_H_
#define MACE_KERNELS_CPU_SIMD_FP16_H_

#include "mace/kernels/cpu/simd.h"

#if !defined(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC)
#error "this ISA has no arithmetic of fp16"
#endif

namespace mace::simd::MACE_ISA {

typedef __fp16 VF16 __attribute__((vector_size(16)));
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
// Four adjacent vectors by one instruction.
MACE_SIMD_INLINE void LoadFourF16(const uint16_t *p, VF16 (&v)[4]) {
  const uint16x8x4_t x = vld1q_u16_x4(p);
  v[0] = reinterpret_cast<VF16>(x.val[0]);
  v[1] = reinterpret_cast<VF16>(x.val[1]);
  v[2] = reinterpret_cast<VF16>(x.val[2]);
  v[3] = reinterpret_cast<VF16>(x.val[3]);
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

}  // namespace mace::simd::MACE_ISA

#endif  // MACE_KERNELS_CPU_SIMD_FP16_H_
