// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Division, which Hexagon has no instruction for: the functions that clang
// calls. The integer ones give 0 for a division by 0, as no DSP program may end
// its process.

#include <stdint.h>

namespace {

struct Quotient {
  uint64_t quotient;
  uint64_t remainder;
};

// One bit of the quotient after the other, from the highest that can be 1.
Quotient Divide(uint64_t a, uint64_t b) {
  if (b == 0) return {0, a};
  Quotient result{0, a};
  if (a < b) return result;
  int shift = __builtin_clzll(b) - __builtin_clzll(a);
  for (b <<= shift; shift >= 0; --shift, b >>= 1) {
    result.quotient <<= 1;
    if (result.remainder >= b) {
      result.remainder -= b;
      result.quotient |= 1;
    }
  }
  return result;
}

uint64_t Magnitude(int64_t value) {
  const auto bits = static_cast<uint64_t>(value);
  return value < 0 ? 0 - bits : bits;
}

// Towards 0; the remainder has the sign of `a`.
int64_t SignedQuotient(int64_t a, int64_t b) {
  const uint64_t q = Divide(Magnitude(a), Magnitude(b)).quotient;
  return static_cast<int64_t>((a < 0) != (b < 0) ? 0 - q : q);
}

int64_t SignedRemainder(int64_t a, int64_t b) {
  const uint64_t r = Divide(Magnitude(a), Magnitude(b)).remainder;
  return static_cast<int64_t>(a < 0 ? 0 - r : r);
}

constexpr uint32_t kSign = 0x80000000u;
constexpr uint32_t kInfinity = 0x7f800000u;
constexpr uint32_t kNan = 0x7fc00000u;
constexpr int kMantissaBits = 23;
constexpr int kBias = 127;

// A number above 0 as mantissa * 2^exponent, with a mantissa of 24 bits.
struct Parts {
  uint32_t mantissa;
  int exponent;
};

Parts PartsOf(uint32_t magnitude) {
  const uint32_t fraction = magnitude & ((1u << kMantissaBits) - 1);
  const int exponent = static_cast<int>(magnitude >> kMantissaBits);
  if (exponent != 0) {
    return {fraction | (1u << kMantissaBits), exponent - kBias - kMantissaBits};
  }
  const int shift = __builtin_clz(fraction) - (31 - kMantissaBits);
  return {fraction << shift, 1 - kBias - kMantissaBits - shift};
}

// To the nearest float, ties to even; `sticky`: whether the value is a little
// larger than mantissa * 2^exponent. The mantissa has at least 25 bits.
uint32_t Rounded(uint64_t mantissa, int exponent, bool sticky) {
  const int bits = 64 - __builtin_clzll(mantissa);
  int drop = bits - (kMantissaBits + 1);
  // Denormals have fewer bits.
  const int lowest = 1 - kBias - kMantissaBits;
  if (exponent + drop < lowest) drop = lowest - exponent;
  if (drop > 62) return 0;
  const uint64_t kept = mantissa >> drop;
  const uint64_t rest = mantissa & ((uint64_t{1} << drop) - 1);
  const uint64_t half = uint64_t{1} << (drop - 1);
  const bool up = rest > half || (rest == half && (sticky || (kept & 1) != 0));
  const int biased = exponent + drop - lowest;
  // A carry out of the mantissa goes to the exponent, and makes of a denormal
  // number a normal one.
  const uint64_t float_bits =
      (static_cast<uint64_t>(biased) << kMantissaBits) + kept + (up ? 1 : 0);
  return float_bits >= kInfinity ? kInfinity
                                 : static_cast<uint32_t>(float_bits);
}

uint32_t DivideBits(uint32_t a, uint32_t b) {
  const uint32_t sign = (a ^ b) & kSign;
  const uint32_t x = a & ~kSign;
  const uint32_t y = b & ~kSign;
  if (x > kInfinity || y > kInfinity ||
      (x == y && (x == 0 || x == kInfinity))) {
    return kNan;
  }
  if (x == kInfinity || y == 0) return sign | kInfinity;
  if (x == 0 || y == kInfinity) return sign;
  const Parts top = PartsOf(x);
  const Parts bottom = PartsOf(y);
  constexpr int kExtra = 26;
  const Quotient q =
      Divide(static_cast<uint64_t>(top.mantissa) << kExtra, bottom.mantissa);
  return sign | Rounded(q.quotient, top.exponent - bottom.exponent - kExtra,
                        q.remainder != 0);
}

}  // namespace

extern "C" {

uint32_t __hexagon_udivsi3(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>(Divide(a, b).quotient);
}
uint32_t __hexagon_umodsi3(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>(Divide(a, b).remainder);
}
int32_t __hexagon_divsi3(int32_t a, int32_t b) {
  return static_cast<int32_t>(SignedQuotient(a, b));
}
int32_t __hexagon_modsi3(int32_t a, int32_t b) {
  return static_cast<int32_t>(SignedRemainder(a, b));
}
uint64_t __hexagon_udivdi3(uint64_t a, uint64_t b) {
  return Divide(a, b).quotient;
}
uint64_t __hexagon_umoddi3(uint64_t a, uint64_t b) {
  return Divide(a, b).remainder;
}
int64_t __hexagon_divdi3(int64_t a, int64_t b) { return SignedQuotient(a, b); }
int64_t __hexagon_moddi3(int64_t a, int64_t b) { return SignedRemainder(a, b); }

float __hexagon_divsf3(float a, float b) {
  return __builtin_bit_cast(float, DivideBits(__builtin_bit_cast(uint32_t, a),
                                              __builtin_bit_cast(uint32_t, b)));
}
}
