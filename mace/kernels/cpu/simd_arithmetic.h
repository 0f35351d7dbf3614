// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Arithmetic in float, in double if more bits are needed, and across lanes.
// Include simd.h, which states the conventions.

#ifndef MACE_KERNELS_CPU_SIMD_ARITHMETIC_H_
#define MACE_KERNELS_CPU_SIMD_ARITHMETIC_H_

#include <cstdint>

#include "mace/kernels/cpu/simd_vector.h"

namespace mace::simd::MACE_ISA {

// ---- arithmetic ------------------------------------------------------------

// a * b + c; fused if the ISA supports it (not on sse41). Kernels are compiled
// with -ffp-contract=fast, which fuses this form.
MACE_SIMD_INLINE V Fma(V a, V b, V c) { return a * b + c; }

// acc + w * a[lane]; one instruction with kLaneFma, otherwise one more shuffle.
#if defined(__aarch64__)
inline constexpr bool kLaneFma = true;
#else
inline constexpr bool kLaneFma = false;
#endif
template <int kLane>
MACE_SIMD_INLINE V FmaLane(V acc, V w, V a) {
#if defined(__AVX512F__)
  constexpr int l = kLane;
  return w * __builtin_shufflevector(a, a, l, l, l, l, l, l, l, l, l, l, l, l,
                                     l, l, l, l) +
         acc;
#elif defined(__AVX2__)
  constexpr int l = kLane;
  return w * __builtin_shufflevector(a, a, l, l, l, l, l, l, l, l) + acc;
#elif defined(__aarch64__)
  return vfmaq_laneq_f32(acc, w, a, kLane);
#else
  return w * __builtin_shufflevector(a, a, kLane, kLane, kLane, kLane) + acc;
#endif
}

// m is a comparison's result.
#if __clang_major__ >= 11
MACE_SIMD_INLINE V Select(VI m, V yes, V no) { return m ? yes : no; }
MACE_SIMD_INLINE VI SelectInt(VI m, VI yes, VI no) { return m ? yes : no; }
#else  // NDK r21: no vectors before "?".
MACE_SIMD_INLINE VI SelectInt(VI m, VI yes, VI no) {
  return (m & yes) | (~m & no);
}
MACE_SIMD_INLINE V Select(VI m, V yes, V no) {
  return AsFloat(SelectInt(m, AsInt(yes), AsInt(no)));
}
#endif

// x86's min/max return the second operand when either is NaN; ARM's propagate.
MACE_SIMD_INLINE V Max(V x, V bound) {
#if defined(__SSE4_1__)
  return MACE_X86(max_ps, bound, x);
#else
  return vmaxq_f32(x, bound);
#endif
}
MACE_SIMD_INLINE V Min(V x, V bound) {
#if defined(__SSE4_1__)
  return MACE_X86(min_ps, bound, x);
#else
  return vminq_f32(x, bound);
#endif
}
MACE_SIMD_INLINE V Clamp(V x, V lo, V hi) { return Min(Max(x, lo), hi); }

MACE_SIMD_INLINE V Abs(V x) { return AsFloat(AsInt(x) & 0x7fffffff); }

// Intrinsics on arm64, for the clang of older Android NDKs: the builtins that
// take any vector came with clang 14 (rounding) and 17 (square root).
#if defined(__aarch64__)
MACE_SIMD_INLINE V Sqrt(V x) { return vsqrtq_f32(x); }
#elif defined(__arm__)
MACE_SIMD_INLINE V Sqrt(V x) {
  for (int i = 0; i < kLanes; ++i) x[i] = __builtin_sqrtf(x[i]);
  return x;
}
#else
MACE_SIMD_INLINE V Sqrt(V x) { return __builtin_elementwise_sqrt(x); }
#endif

#if defined(__arm__)
// NEON of Armv7 has no rounding instructions. |x| >= 2^23 is integral already
// (this covers Inf and NaN); below, int32 holds it. -0 keeps its sign.
MACE_SIMD_INLINE V Truncate(V x) {
  const V t = __builtin_convertvector(__builtin_convertvector(x, VI), V);
  const V whole = AsFloat(AsInt(t) | (AsInt(x) & INT32_MIN));
  return Select(Abs(x) < Set(8388608.0f), whole, x);
}
MACE_SIMD_INLINE V Floor(V x) {
  const V t = Truncate(x);
  const V down = AsFloat(AsInt(t - 1.0f) | (AsInt(x) & INT32_MIN));
  return Select(t > x, down, t);
}
MACE_SIMD_INLINE V Ceil(V x) {
  const V t = Truncate(x);
  const V up = AsFloat(AsInt(t + 1.0f) | (AsInt(x) & INT32_MIN));
  return Select(t < x, up, t);
}
// Rounds to nearest, ties to even: after adding 2^23 there are no bits left for
// a fraction.
MACE_SIMD_INLINE V Round(V x) {
  const V magic = Set(8388608.0f);
  V m = Abs(x) + magic;
  __asm__("" : "+w"(m));  // keeps (a + b) - b from being simplified
  const V r = AsFloat(AsInt(m - magic) | (AsInt(x) & INT32_MIN));
  return Select(Abs(x) < magic, r, x);
}
#elif defined(__aarch64__)
MACE_SIMD_INLINE V Truncate(V x) { return vrndq_f32(x); }
MACE_SIMD_INLINE V Floor(V x) { return vrndmq_f32(x); }
MACE_SIMD_INLINE V Ceil(V x) { return vrndpq_f32(x); }
// Nearest, ties to even.
MACE_SIMD_INLINE V Round(V x) { return vrndnq_f32(x); }
#else
MACE_SIMD_INLINE V Truncate(V x) { return __builtin_elementwise_trunc(x); }
MACE_SIMD_INLINE V Floor(V x) { return __builtin_elementwise_floor(x); }
MACE_SIMD_INLINE V Ceil(V x) { return __builtin_elementwise_ceil(x); }
// Nearest, ties to even.
MACE_SIMD_INLINE V Round(V x) { return __builtin_elementwise_roundeven(x); }
#endif

// Conversion to int32, toward zero, where |x| must be below 2^31; and back.
MACE_SIMD_INLINE VI ToInt(V x) { return __builtin_convertvector(x, VI); }
MACE_SIMD_INLINE V ToFloat(VI x) { return __builtin_convertvector(x, V); }

// y * 2^n for y in [0.5, 2) and integral n in [-252, 252], with one rounding
// where it is denormal. NaN in both gives NaN.
MACE_SIMD_INLINE V ScaleByPowerOfTwo(V y, V n) {
#if defined(__AVX512F__)
  return _mm512_scalef_ps(y, n);
#else
  // In two steps, because one factor cannot represent either end of the range.
  const VI exponent = ToInt(Select(n != n, Zero(), n));
  const VI half = exponent >> 1;
  const VI rest = exponent - half;
  return y * AsFloat((half + 127) << 23) * AsFloat((rest + 127) << 23);
#endif
}

// ---- double ----------------------------------------------------------------
// For the few steps that need more than 24 bits. Armv7 has no double vectors.

#if !defined(__arm__)
inline constexpr bool kHasDouble = true;
#else
inline constexpr bool kHasDouble = false;
#endif
typedef double VD __attribute__((vector_size(kLanes * 8)));
typedef int64_t VL __attribute__((vector_size(kLanes * 8)));

MACE_SIMD_INLINE VD ToDouble(V x) { return __builtin_convertvector(x, VD); }
MACE_SIMD_INLINE VD IntToDouble(VI x) { return __builtin_convertvector(x, VD); }
MACE_SIMD_INLINE V Narrow(VD x) { return __builtin_convertvector(x, V); }
MACE_SIMD_INLINE VD SetDouble(double x) {
  VD v;
  for (int i = 0; i < kLanes; ++i) v[i] = x;
  return v;
}
MACE_SIMD_INLINE VD FmaDouble(VD a, VD b, VD c) { return a * b + c; }
// m is a comparison's result.
MACE_SIMD_INLINE VD SelectDouble(VL m, VD yes, VD no) {
  return reinterpret_cast<VD>((m & reinterpret_cast<VL>(yes)) |
                              (~m & reinterpret_cast<VL>(no)));
}

// ---- across lanes ----------------------------------------------------------
// A fixed tree: the halves of a vector are combined until one lane is left, so
// the result depends only on the ISA.

#if defined(__AVX2__) && !defined(__AVX512F__)
#define MACE_SIMD_FOLD(name, step)                               \
  MACE_SIMD_INLINE float name(V x) {                             \
    V y = __builtin_shufflevector(x, x, 4, 5, 6, 7, 4, 5, 6, 7); \
    x = step(x, y);                                              \
    y = __builtin_shufflevector(x, x, 2, 3, 2, 3, 2, 3, 2, 3);   \
    x = step(x, y);                                              \
    y = __builtin_shufflevector(x, x, 1, 1, 1, 1, 1, 1, 1, 1);   \
    return step(x, y)[0];                                        \
  }
#elif defined(__AVX512F__)
#define MACE_SIMD_FOLD(name, step)                                           \
  MACE_SIMD_INLINE float name(V x) {                                         \
    V y = __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15, 8, 9,  \
                                  10, 11, 12, 13, 14, 15);                   \
    x = step(x, y);                                                          \
    y = __builtin_shufflevector(x, x, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 4, \
                                5, 6, 7);                                    \
    x = step(x, y);                                                          \
    y = __builtin_shufflevector(x, x, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, \
                                3, 2, 3);                                    \
    x = step(x, y);                                                          \
    y = __builtin_shufflevector(x, x, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, \
                                1, 1, 1);                                    \
    return step(x, y)[0];                                                    \
  }
#else
#define MACE_SIMD_FOLD(name, step)                   \
  MACE_SIMD_INLINE float name(V x) {                 \
    V y = __builtin_shufflevector(x, x, 2, 3, 2, 3); \
    x = step(x, y);                                  \
    y = __builtin_shufflevector(x, x, 1, 1, 1, 1);   \
    return step(x, y)[0];                            \
  }
#endif
MACE_SIMD_INLINE V Plus(V a, V b) { return a + b; }
MACE_SIMD_FOLD(ReduceAdd, Plus)
MACE_SIMD_FOLD(ReduceMax, Max)
MACE_SIMD_FOLD(ReduceMin, Min)
#undef MACE_SIMD_FOLD

// ---- sums in float ---------------------------------------------------------

// Sums of many elements, if Element has too few bits for them.
using Sum = V;
MACE_SIMD_INLINE Sum ZeroSum() { return Zero(); }
MACE_SIMD_INLINE Sum AddTo(Sum sum, V x) { return sum + x; }
MACE_SIMD_INLINE Sum AddSums(Sum a, Sum b) { return a + b; }
MACE_SIMD_INLINE V Quotient(Sum sum, float divisor) {
  return sum / Set(divisor);
}

}  // namespace mace::simd::MACE_ISA

#endif  // MACE_KERNELS_CPU_SIMD_ARITHMETIC_H_
