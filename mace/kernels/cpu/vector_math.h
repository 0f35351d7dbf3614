// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Elementary functions of float vectors, for kernel sources (simd.h).
//
// Errors in units in the last place (ulp) over the whole range, measured by
// activation_test and eltwise_test on every ISA, and the results at the limits:
//
//   Exp       2 ulp   overflow Inf, underflow through denormals to 0
//   Expm1Neg  4 ulp   exp(x) - 1 for x <= 0
//   Log       2 ulp   0: -Inf, negative: NaN, denormals exact
//   Tanh      4 ulp   +-1 beyond 10
//   Sigmoid   4 ulp   also where the result is tiny
//   Erf       4 ulp   +-1 beyond 3.95
//   Softplus  4 ulp
//   Gelu, GeluTanh  5e-7 absolute, 4 ulp above 1
//   GeluBf16  1.3e-4 of the result
//   Sin, Cos  2e-7 absolute; beyond 6000 those of the C library
//   Pow       1 ulp   all special cases as in C; on Armv7 the C library's
//   FloorMod  1 ulp   the remainder with the sign of the divisor
//
// NaN gives NaN. On Armv7, whose NEON flushes denormals, denormal arguments
// and results count as 0.
//
// Polynomials are least-squares fits at 400 Chebyshev nodes, reweighted
// towards the minimax; "fit error" is their own, before rounding to float.

#ifndef MACE_KERNELS_CPU_VECTOR_MATH_H_
#define MACE_KERNELS_CPU_VECTOR_MATH_H_

#include <math.h>

#include "mace/kernels/cpu/simd.h"

namespace mace::simd::MACE_ISA {

MACE_SIMD_INLINE VI IsNan(V x) { return x != x; }

// |magnitude| with the sign of `sign`.
MACE_SIMD_INLINE V CopySign(V magnitude, V sign) {
  return AsFloat((AsInt(magnitude) & 0x7fffffff) | (AsInt(sign) & INT32_MIN));
}

// exp(r) - 1 for |r| <= 0.36: r + r^2 P(r), fit error 4e-9.
MACE_SIMD_INLINE V Expm1Small(V r) {
  V p = Set(0.0013952970039099455f);
  p = Fma(p, r, Set(0.008370321244001389f));
  p = Fma(p, r, Set(0.041666168719530106f));
  p = Fma(p, r, Set(0.16666506230831146f));
  p = Fma(p, r, Set(0.5f));
  return Fma(p * r, r, r);
}

// exp(x) = 2^n exp(r), |r| <= ln(2) / 2, for x from -104 to 89. ln(2) is
// subtracted in two parts of which the first, 0x1.62ep-1, times n is exact.
MACE_SIMD_INLINE V ExpWithin(V in) {
  const V n = Round(in * 1.44269504f);
  V r = in - n * 0.693115234375f;
  r = r - n * 3.1946184945309415e-05f;
  // Like Expm1Small, with one step less, since the 1 need not be kept separate.
  V p = Set(0.0013952970039099455f);
  p = Fma(p, r, Set(0.008370321244001389f));
  p = Fma(p, r, Set(0.041666168719530106f));
  p = Fma(p, r, Set(0.16666506230831146f));
  p = Fma(p, r, Set(0.5f));
  p = Fma(p, r, Set(1.0f));
  p = Fma(p, r, Set(1.0f));
  return ScaleByPowerOfTwo(p, n);
}
MACE_SIMD_INLINE V Exp(V x) {
  return ExpWithin(Clamp(x, Set(-104.0f), Set(89.0f)));
}
// Where x <= 0 or NaN.
MACE_SIMD_INLINE V ExpNonPositive(V x) {
  return ExpWithin(Max(x, Set(-104.0f)));
}

// exp(x) - 1 for x <= 0, accurate near 0 too.
MACE_SIMD_INLINE V Expm1Neg(V x) {
  return Select(x > Set(-0.34f), Expm1Small(x), Exp(x) - 1.0f);
}

// log(x) = e ln(2) + log(m), m = 1 + f in [sqrt(1/2), sqrt(2));
// log(1 + f) = f - f^2 / 2 + f^3 P(f), fit error 8e-10.
MACE_SIMD_INLINE V Log(V x) {
  const VI tiny = x < Set(0x1p-126f);
  const V scaled = Select(tiny, x * 0x1p23f, x);
  const VI bits = AsInt(scaled) - 0x3f3504f3;  // sqrt(1/2)
  const VI exponent = (bits >> 23) + SelectInt(tiny, SetInt(-23), SetInt(0));
  const V e = ToFloat(exponent);
  const V f = AsFloat((bits & 0x007fffff) + 0x3f3504f3) - 1.0f;
  V p = Set(0.06915368139743805f);
  p = Fma(p, f, Set(-0.11789807677268982f));
  p = Fma(p, f, Set(0.11872976273298264f));
  p = Fma(p, f, Set(-0.1238434836268425f));
  p = Fma(p, f, Set(0.14218658208847046f));
  p = Fma(p, f, Set(-0.16669251024723053f));
  p = Fma(p, f, Set(0.20002226531505585f));
  p = Fma(p, f, Set(-0.24999986588954926f));
  p = Fma(p, f, Set(0.3333331048488617f));
  const V f2 = f * f;
  V y = p * f2 * f;
  y = y + e * 3.1946184945309415e-05f;
  y = y - f2 * 0.5f;
  y = f + y;
  y = y + e * 0.693115234375f;
  const V infinity = Set(__builtin_inff());
  y = Select(x == infinity, infinity, y);
  y = Select(x == Zero(), -infinity, y);
  return Select(x >= Zero(), y, Set(__builtin_nanf("")));
}

// log(1 + e) for e in [0, 1]. The part that rounding 1 + e loses is added back.
MACE_SIMD_INLINE V Log1pUnit(V e) {
  const V u = e + 1.0f;
  return Log(u) + (e - (u - 1.0f)) / u;
}

// Beyond 17 it is 1; the bound is one for which e is finite.
MACE_SIMD_INLINE V Sigmoid(V x) {
  const V e = ExpWithin(Clamp(x, Set(-104.0f), Set(80.0f)));
  return e / (e + 1.0f);
}

MACE_SIMD_INLINE V Softplus(V x) {
  return Max(x, Zero()) + Log1pUnit(Exp(-Abs(x)));
}

// 2^x = 2^round(x) * 2^r for -40 <= x <= 0. 1.5 * 2^23 leaves no bits for a
// fraction: the lowest bits of the sum are round(x), and move to the exponent.
MACE_SIMD_INLINE V Exp2Rest(V x, V *shifted) {
  const V magic = Set(12582912.0f);
  *shifted = x + magic;
  return x - (*shifted - magic);
}
MACE_SIMD_INLINE V Exp2Scale(V p, V shifted) {
  return AsFloat(AsInt(p) + (AsInt(shifted) << 23));
}

// 2^x for -40 <= x <= 0, error 1e-7 of it.
MACE_SIMD_INLINE V Exp2Neg(V x) {
  V shifted;
  const V r = Exp2Rest(x, &shifted);
  V p = Set(0.0013276450335979462f);
  p = Fma(p, r, Set(0.009675540961325169f));
  p = Fma(p, r, Set(0.05550713464617729f));
  p = Fma(p, r, Set(0.24022120237350464f));
  p = Fma(p, r, Set(0.6931469440460205f));
  p = Fma(p, r, Set(1.0000001192092896f));
  return Exp2Scale(p, shifted);
}

// |x| < 1: x + x P(x^2), fit error 2e-9; else 1 - 2^(-a Q(a)), a = |x|,
// where a Q(a) = -log2(erfc(a)), fit error 2e-10 of erf.
MACE_SIMD_INLINE V Erf(V x) {
  const V z = x * x;
  V p = Set(7.88911638665013e-05f);
  p = Fma(p, z, Set(-0.000802083988673985f));
  p = Fma(p, z, Set(0.005189535208046436f));
  p = Fma(p, z, Set(-0.026854444295167923f));
  p = Fma(p, z, Set(0.11283600330352783f));
  p = Fma(p, z, Set(-0.3761262595653534f));
  p = Fma(p, z, Set(0.12837916612625122f));
  const V small = Fma(p, x, x);
  const V a = Min(Abs(x), Set(3.95f));
  V q = Set(6.3866982600302435e-06f);
  q = Fma(q, a, Set(-5.669906749972142e-05f));
  q = Fma(q, a, Set(-0.00011812371667474508f));
  q = Fma(q, a, Set(0.004357311874628067f));
  q = Fma(q, a, Set(-0.032924532890319824f));
  q = Fma(q, a, Set(0.15206606686115265f));
  q = Fma(q, a, Set(0.916907012462616f));
  q = Fma(q, a, Set(1.6281793117523193f));
  const V large = 1.0f - Exp2Neg(-(a * q));
  // A NaN is in `small`.
  return Select(Abs(x) >= Set(1.0f), CopySign(large, x), small);
}

// -m / (2 + m) with m = exp(-2 |x|) - 1 = 2^n (2^r - 1) + (2^n - 1), which
// loses nothing where m is small; 2^r - 1 = r P(r), fit error 1e-8 of it.
MACE_SIMD_INLINE V Tanh(V x) {
  V shifted;
  const V r = Exp2Rest(Min(Abs(x), Set(10.0f)) * -2.88539008f, &shifted);
  V p = Set(0.00015403512225020677f);
  p = Fma(p, r, Set(0.0013390735257416964f));
  p = Fma(p, r, Set(0.009618237614631653f));
  p = Fma(p, r, Set(0.05550357326865196f));
  p = Fma(p, r, Set(0.24022649228572845f));
  p = Fma(p, r, Set(0.6931471824645996f));
  const V scale = Exp2Scale(Set(1.0f), shifted);
  const V m = Fma(p, r * scale, scale - 1.0f);
  return CopySign(m / (m + 2.0f), x);
}

// Where |x| Q(|x|) ends, for both functions below: under 1e-8 from there on.
// In this order, so that Min gives the bound for NaN.
MACE_SIMD_INLINE V GeluArgument(V x) { return Min(Set(6.0f), Abs(x)); }

// x Phi(x) = max(x, 0) - t Q(t), t = |x|, where Q(t) = erfc(t / sqrt(2)) / 2 is
// 2^(-1 - t P(t)). Nothing cancels for either sign; fit error 1.4e-8 of the
// result.
MACE_SIMD_INLINE V Gelu(V x) {
  const V t = GeluArgument(x);
  V p = Set(-1.9000791553480667e-06f);
  p = Fma(p, t, Set(2.80333715636516e-05f));
  p = Fma(p, t, Set(-0.00013136131747160107f));
  p = Fma(p, t, Set(-0.00027234893059358f));
  p = Fma(p, t, Set(0.0072457874193787575f));
  p = Fma(p, t, Set(-0.05262787640094757f));
  p = Fma(p, t, Set(-0.45916205644607544f));
  p = Fma(p, t, Set(-1.1511110067367554f));
  return Max(x, Zero()) - t * Exp2Neg(Fma(p, t, Set(-1.0f)));
}

// The same for results of bf16: fewer steps, error 1.3e-4 of the result.
MACE_SIMD_INLINE V GeluBf16(V x) {
  const V t = GeluArgument(x);
  V p = Set(2.3433234673575498e-05f);
  p = Fma(p, t, Set(-0.0006197390612214804f));
  p = Fma(p, t, Set(0.007260350976139307f));
  p = Fma(p, t, Set(-0.05141860619187355f));
  p = Fma(p, t, Set(-0.46086356043815613f));
  p = Fma(p, t, Set(-1.1504803895950317f));
  p = Fma(p, t, Set(-1.0f));
  V shifted;
  const V r = Exp2Rest(p, &shifted);
  V e = Set(0.0551716648042202f);
  e = Fma(e, r, Set(0.2426111251115799f));
  e = Fma(e, r, Set(0.6932609677314758f));
  e = Fma(e, r, Set(0.9999280571937561f));
  return Fma(-t, Exp2Scale(e, shifted), Max(x, Zero()));
}

// x / 2 (1 + tanh(u)), u = sqrt(2 / pi) (x + 0.044715 x^3), is x sigmoid(2 u):
// the same with Q(t) = e / (1 + e), e = exp(-2 |u|).
MACE_SIMD_INLINE V GeluTanh(V x) {
  const V t = GeluArgument(x);
  const V u = Fma(t * t, Set(-0.10294324f), Set(-2.3022082f));
  const V e = Exp2Neg(t * u);
  return Max(x, Zero()) - t * (e / (1.0f + e));
}

// sin(x + quarter * pi / 2), |x| <= 6000: pi / 2 is subtracted in three parts
// of which the first two, of 9 and 6 bits, times n are exact.
MACE_SIMD_INLINE V SinQuarter(V x, int32_t quarter) {
  const V n = Round(x * 0.636619772f);
  V r = x - n * 0x1.92p+0f;
  r = r - n * 0x1.f8p-12f;
  r = r - n * 0x1.aa2216p-19f;
  const VI q = ToInt(Select(IsNan(n), Zero(), n)) + quarter;
  const V z = r * r;
  V s = Set(2.71823728326126e-06f);
  s = Fma(s, z, Set(-0.00019839327433146536f));
  s = Fma(s, z, Set(0.008333329111337662f));
  s = Fma(s, z, Set(-0.1666666716337204f));
  s = Fma(s * z, r, r);
  V c = Set(2.4437727915938012e-05f);
  c = Fma(c, z, Set(-0.001388736185617745f));
  c = Fma(c, z, Set(0.04166664555668831f));
  c = Fma(c * z, z, 1.0f - 0.5f * z);
  const V y = Select((q & 1) != 0, c, s);
  return AsFloat(AsInt(y) ^ ((q & 2) << 30));
}

// Applies a function of the C library lane by lane.
MACE_SIMD_INLINE V PerLane(float (*function)(float), V x) {
  V y = Zero();
  for (int i = 0; i < kLanes; ++i) y[i] = function(x[i]);
  return y;
}
MACE_SIMD_INLINE V PerLane(float (*function)(float, float), V x, V y) {
  V z = Zero();
  for (int i = 0; i < kLanes; ++i) z[i] = function(x[i], y[i]);
  return z;
}

// Only lanes beyond 6000 use the C library, so that no result depends on other
// lanes.
MACE_SIMD_INLINE V SinOr(V x, int32_t quarter, float (*exact)(float)) {
  const VI large = Abs(x) > Set(6000.0f);
  V y = SinQuarter(Select(large, Zero(), x), quarter);
  if (ReduceMax(Select(large, Set(1.0f), Zero())) == 0.0f) return y;
  for (int i = 0; i < kLanes; ++i) {
    if (large[i] != 0) y[i] = exact(x[i]);
  }
  return y;
}

MACE_SIMD_INLINE V Sin(V x) { return SinOr(x, 0, &sinf); }
MACE_SIMD_INLINE V Cos(V x) { return SinOr(x, 1, &cosf); }

// log2(x) for finite x > 0, to 1e-13: with m in [sqrt(1/2), sqrt(2)) and
// s = (m - 1) / (m + 1), log(m) = 2 s (1 + s^2 / 3 + s^4 / 5 + ...).
MACE_SIMD_INLINE VD Log2Double(V x) {
  const VI tiny = x < Set(0x1p-126f);
  const V scaled = Select(tiny, x * 0x1p23f, x);
  const VI bits = AsInt(scaled) - 0x3f3504f3;  // sqrt(1/2)
  const VI exponent = (bits >> 23) + SelectInt(tiny, SetInt(-23), SetInt(0));
  const VD m = ToDouble(AsFloat((bits & 0x007fffff) + 0x3f3504f3));
  const VD s = (m - 1.0) / (m + 1.0);
  const VD z = s * s;
  VD p = SetDouble(1.0 / 17);
  p = FmaDouble(p, z, SetDouble(1.0 / 15));
  p = FmaDouble(p, z, SetDouble(1.0 / 13));
  p = FmaDouble(p, z, SetDouble(1.0 / 11));
  p = FmaDouble(p, z, SetDouble(1.0 / 9));
  p = FmaDouble(p, z, SetDouble(1.0 / 7));
  p = FmaDouble(p, z, SetDouble(1.0 / 5));
  p = FmaDouble(p, z, SetDouble(1.0 / 3));
  p = FmaDouble(p, z, SetDouble(1.0));
  return FmaDouble(s * 2.8853900817779268, p, IntToDouble(exponent));
}

// 2^t; 0 and Inf if a float would be. The Taylor series of 2^r, |r| <= 1/2,
// ends with r^8: error 2e-10.
MACE_SIMD_INLINE V Exp2Double(VD t) {
  const VD low = SetDouble(-200.0);
  const VD high = SetDouble(200.0);
  t = SelectDouble(reinterpret_cast<VL>(t < low), low, t);
  t = SelectDouble(reinterpret_cast<VL>(t > high), high, t);
  // After adding 1.5 * 2^52, no bits are left for a fraction: the lowest bits
  // are round(t).
  const VD magic = SetDouble(6755399441055744.0);
  const VD rounded = t + magic;
  const VD r = t - (rounded - magic);
  VD p = SetDouble(1.321548679014431e-06);  // ln(2)^k / k!
  p = FmaDouble(p, r, SetDouble(1.525273380405984e-05));
  p = FmaDouble(p, r, SetDouble(0.0001540353039338161));
  p = FmaDouble(p, r, SetDouble(0.0013333558146428443));
  p = FmaDouble(p, r, SetDouble(0.009618129107628477));
  p = FmaDouble(p, r, SetDouble(0.05550410866482158));
  p = FmaDouble(p, r, SetDouble(0.2402265069591007));
  p = FmaDouble(p, r, SetDouble(0.6931471805599453));
  p = FmaDouble(p, r, SetDouble(1.0));
  return Narrow(reinterpret_cast<VD>(reinterpret_cast<VL>(p) +
                                     (reinterpret_cast<VL>(rounded) << 52)));
}

// x^y = 2^(y log2(x)) in double, rounded once, and C's special cases.
MACE_SIMD_INLINE V Pow(V x, V y) {
  if constexpr (!kHasDouble) return PerLane(&powf, x, y);
  const V infinity = Set(__builtin_inff());
  const V one = Set(1.0f);
  const V a = Abs(x);
  // For 0 and Inf the logarithm is so large that any y other than 0 gives 0 or
  // Inf.
  VD log = Log2Double(a);
  const VD to_double = ToDouble(a);
  const VD huge = SetDouble(1e60);
  log = SelectDouble(reinterpret_cast<VL>(to_double == 0.0), -huge, log);
  log = SelectDouble(
      reinterpret_cast<VL>(to_double == SetDouble(__builtin_inf())), huge, log);
  V r = Exp2Double(log * ToDouble(y));
  const V half = y * 0.5f;
  const VI whole = Floor(y) == y;
  const VI odd = whole & (Floor(half) != half);
  r = AsFloat(AsInt(r) ^ (odd & AsInt(x) & INT32_MIN));
  const VI imaginary = (x < Zero()) & (a != infinity) & ~whole;
  r = Select(imaginary | IsNan(x) | IsNan(y), Set(__builtin_nanf("")), r);
  const VI is_one =
      (y == Zero()) | (x == one) | ((a == one) & (Abs(y) == infinity));
  return Select(is_one, one, r);
}

// The remainder of one lane, with the sign of the divisor, like Python's %.
static inline float FloorModOne(float a, float b) {
  const float m = fmodf(a, b);
  const bool other_sign = (m < 0) != (b < 0);
  return m != 0 && other_sign ? m + b : m;
}

// Below 2^29, a quotient times b is exact in double, and so is the remainder.
MACE_SIMD_INLINE V FloorMod(V a, V b) {
  if constexpr (!kHasDouble) return PerLane(&FloorModOne, a, b);
  const VD x = ToDouble(a);
  const VD divisor = ToDouble(b);
  const VD magic = SetDouble(6755399441055744.0);
  const VD quotient = (x / divisor + magic) - magic;  // nearest, not below
  VD m = x - quotient * divisor;
  m = SelectDouble(reinterpret_cast<VL>(m * divisor < 0.0), m + divisor, m);
  V y = Narrow(m);
  const VI good = (Abs(Narrow(quotient)) < Set(0x1p29f)) & (y == y);
  if (ReduceMin(Select(good, Set(1.0f), Zero())) == 1.0f) return y;
  for (int i = 0; i < kLanes; ++i) {
    if (good[i] == 0) y[i] = FloorModOne(a[i], b[i]);
  }
  return y;
}

// ---- a function over an array ----------------------------------------------

// The only machine code of f: whether the compiler fuses a * b + c depends on
// the surrounding code, so a second copy for tails could differ in the last
// bit.
template <typename F>
static __attribute__((noinline)) void MapWhole(const float *x,
                                               float *y,
                                               size_t vectors,
                                               F f) {
#pragma clang loop unroll(disable)
  for (size_t i = 0; i < vectors; ++i) {
    Store(y + i * kLanes, f(Load(x + i * kLanes)));
  }
}

// y[i] = f(x[i]), with the same bits wherever a range begins and ends.
template <typename F>
MACE_SIMD_INLINE void Map(const float *x, float *y, size_t n, F f) {
  const size_t whole = n / kLanes * kLanes;
  MapWhole(x, y, n / kLanes, f);
  if (whole < n) {
    const int left = static_cast<int>(n - whole);
    float last[kLanes];
    Store(last, LoadN(x + whole, left));
    MapWhole(last, last, 1, f);
    StoreN(y + whole, Load(last), left);
  }
}

}  // namespace mace::simd::MACE_ISA

#endif  // MACE_KERNELS_CPU_VECTOR_MATH_H_
