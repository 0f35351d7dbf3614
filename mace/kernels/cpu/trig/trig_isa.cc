// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Polynomials are least-squares fits at 400 Chebyshev nodes, reweighted towards
// the minimax, of (f(x) / x - 1) / x^2 as a function of x^2.

#include "mace/kernels/cpu/trig/trig.h"

#include "mace/kernels/cpu/vector_math.h"

namespace mace::trig::MACE_ISA {

namespace sv = simd::MACE_ISA;

namespace {

constexpr float kHalfPi = 1.5707963267948966f;
constexpr float kPi = 3.141592653589793f;
constexpr float kLog2 = 0.6931471805599453f;

// From here on, x^2 + 1 and x^2 - 1 equal x^2 in float.
constexpr float kLarge = 1e4f;

// |x| <= tan(pi / 8): fit error 2e-8. Above, atan(x) = pi / 4 +
// atan((x - 1) / (x + 1)), and from tan(3 pi / 8) on, pi / 2 - atan(1 / x).
MACE_SIMD_INLINE sv::V Atan(sv::V x) {
  const sv::V a = sv::Abs(x);
  const sv::VI upper = a > sv::Set(2.41421356f);
  const sv::VI middle = a > sv::Set(0.41421356f);
  const sv::V one = sv::Set(1.0f);
  const sv::V top = sv::Select(upper, -one, sv::Select(middle, a - 1.0f, a));
  const sv::V bottom = sv::Select(upper, a, sv::Select(middle, a + 1.0f, one));
  const sv::V offset =
      sv::Select(upper, sv::Set(kHalfPi),
                 sv::Select(middle, sv::Set(kHalfPi / 2), sv::Zero()));
  const sv::V r = top / bottom;
  const sv::V z = r * r;
  sv::V p = sv::Set(0.080602631f);
  p = sv::Fma(p, z, sv::Set(-0.138798341f));
  p = sv::Fma(p, z, sv::Set(0.199779242f));
  p = sv::Fma(p, z, sv::Set(-0.333329558f));
  return sv::CopySign(offset + sv::Fma(p * z, r, r), x);
}

// asin(x) for 0 <= x <= 1/2 and z = x^2: fit error 5e-9.
MACE_SIMD_INLINE sv::V AsinSmall(sv::V x, sv::V z) {
  sv::V p = sv::Set(0.0422184728f);
  p = sv::Fma(p, z, sv::Set(0.0241476502f));
  p = sv::Fma(p, z, sv::Set(0.0454770923f));
  p = sv::Fma(p, z, sv::Set(0.0749524161f));
  p = sv::Fma(p, z, sv::Set(0.166667536f));
  return sv::Fma(p * z, x, x);
}

// asin(|x|) if |x| <= 1/2; otherwise acos(|x|), which is
// 2 asin(sqrt((1 - |x|) / 2)).
MACE_SIMD_INLINE sv::V AsinOrAcos(sv::V a, sv::VI small) {
  const sv::V z = sv::Select(small, a * a, (1.0f - a) * 0.5f);
  const sv::V p = AsinSmall(sv::Select(small, a, sv::Sqrt(z)), z);
  return sv::Select(small, p, p + p);
}

MACE_SIMD_INLINE sv::V Asin(sv::V x) {
  const sv::V a = sv::Abs(x);
  const sv::VI small = a <= sv::Set(0.5f);
  const sv::V p = AsinOrAcos(a, small);
  return sv::CopySign(sv::Select(small, p, kHalfPi - p), x);
}

MACE_SIMD_INLINE sv::V Acos(sv::V x) {
  const sv::V a = sv::Abs(x);
  const sv::VI small = a <= sv::Set(0.5f);
  const sv::V p = AsinOrAcos(a, small);
  const sv::VI negative = x < sv::Zero();
  return sv::Select(small, kHalfPi - sv::CopySign(p, x),
                    sv::Select(negative, kPi - p, p));
}

// exp(|x|) / 2 and exp(-|x|) / 2. The square of exp(|x| / 2) does not overflow
// before the result does.
MACE_SIMD_INLINE sv::V HalfExp(sv::V a, sv::V *inverse) {
  const sv::V root = sv::Exp(sv::Min(a, sv::Set(180.0f)) * 0.5f);
  const sv::V half = root * 0.5f;
  *inverse = 0.5f / root / root;
  return half * root;
}

// |x| < 1: x + x^3 P(x^2), fit error 3e-8 of x^3.
MACE_SIMD_INLINE sv::V Sinh(sv::V x) {
  const sv::V a = sv::Abs(x);
  sv::V inverse;
  const sv::V half = HalfExp(a, &inverse);
  const sv::V z = a * a;
  sv::V p = sv::Set(2.81744019e-06f);
  p = sv::Fma(p, z, sv::Set(0.000198360663f));
  p = sv::Fma(p, z, sv::Set(0.00833335053f));
  p = sv::Fma(p, z, sv::Set(0.166666672f));
  const sv::V near = sv::Fma(p * z, a, a);
  const sv::V y = sv::Select(a < sv::Set(1.0f), near, half - inverse);
  return sv::CopySign(y, x);
}

MACE_SIMD_INLINE sv::V Cosh(sv::V x) {
  sv::V inverse;
  const sv::V half = HalfExp(sv::Abs(x), &inverse);
  return half + inverse;
}

// log(1 + u) for u >= 0; NaN below -1. The part that rounding 1 + u loses is
// added back.
MACE_SIMD_INLINE sv::V Log1p(sv::V u) {
  const sv::V w = u + 1.0f;
  const sv::V lost = (u - (w - 1.0f)) / w;
  return sv::Log(w) + sv::Select(w < sv::Set(0x1p24f), lost, sv::Zero());
}

// |x| < 1/2: x + x^3 P(x^2), fit error 1e-9; large: log(2 x).
MACE_SIMD_INLINE sv::V Asinh(sv::V x) {
  const sv::V a = sv::Abs(x);
  const sv::VI large = a > sv::Set(kLarge);
  const sv::V z = a * a;
  sv::V p = sv::Set(-0.0132479947f);
  p = sv::Fma(p, z, sv::Set(0.0281754937f));
  p = sv::Fma(p, z, sv::Set(-0.0443858542f));
  p = sv::Fma(p, z, sv::Set(0.0749866292f));
  p = sv::Fma(p, z, sv::Set(-0.166666433f));
  const sv::V near = sv::Fma(p * z, a, a);
  const sv::V sum = a + sv::Sqrt(z + 1.0f);
  const sv::V log = sv::Log(sv::Select(large, a, sum));
  const sv::V far = sv::Select(large, log + kLog2, log);
  const sv::V y = sv::Select(a < sv::Set(0.5f), near, far);
  return sv::CopySign(y, x);
}

MACE_SIMD_INLINE sv::V Acosh(sv::V x) {
  const sv::VI large = x > sv::Set(kLarge);
  const sv::V t = x - 1.0f;
  const sv::V near = Log1p(t + sv::Sqrt(t * (t + 2.0f)));
  const sv::V y = sv::Select(large, sv::Log(x) + kLog2, near);
  // Below -1, the product is positive again.
  return sv::Select(x >= sv::Set(1.0f), y, sv::Set(__builtin_nanf("")));
}

MACE_SIMD_INLINE sv::V Atanh(sv::V x) {
  const sv::V a = sv::Abs(x);
  return sv::CopySign(0.5f * Log1p((a + a) / (1.0f - a)), x);
}

void Run(Function function, const float *x, float *y, size_t n) {
  switch (function) {
    case Function::kAsin:
      return sv::Map(x, y, n, [](sv::V v) { return Asin(v); });
    case Function::kAcos:
      return sv::Map(x, y, n, [](sv::V v) { return Acos(v); });
    case Function::kAtan:
      return sv::Map(x, y, n, [](sv::V v) { return Atan(v); });
    case Function::kSinh:
      return sv::Map(x, y, n, [](sv::V v) { return Sinh(v); });
    case Function::kCosh:
      return sv::Map(x, y, n, [](sv::V v) { return Cosh(v); });
    case Function::kAsinh:
      return sv::Map(x, y, n, [](sv::V v) { return Asinh(v); });
    case Function::kAcosh:
      return sv::Map(x, y, n, [](sv::V v) { return Acosh(v); });
    default:
      return sv::Map(x, y, n, [](sv::V v) { return Atanh(v); });
  }
}

}  // namespace

extern const Kernels kKernels = {Run};

}  // namespace mace::trig::MACE_ISA
