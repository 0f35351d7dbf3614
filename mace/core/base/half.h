// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Conversions of 16-bit floating point, one value at a time and without special
// instructions, for copies between the caller and the engine. Kernels have
// their own vector forms.

#ifndef MACE_CORE_BASE_HALF_H_
#define MACE_CORE_BASE_HALF_H_

#include <cstdint>
#include <cstring>

namespace mace {

inline uint32_t FloatBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline float FloatFromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

inline float Bfloat16ToFloat(uint16_t value) {
  return FloatFromBits(static_cast<uint32_t>(value) << 16);
}

// Rounds to nearest, ties to even; a NaN stays a (quiet) NaN.
inline uint16_t FloatToBfloat16(float value) {
  const uint32_t bits = FloatBits(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    return static_cast<uint16_t>((bits >> 16) | 0x40u);
  }
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// IEEE 754 binary16.
inline float HalfToFloat(uint16_t value) {
  const uint32_t sign = static_cast<uint32_t>(value & 0x8000u) << 16;
  const uint32_t exponent = (value >> 10) & 0x1fu;
  const uint32_t mantissa = value & 0x3ffu;
  if (exponent == 0) {  // zero, or mantissa * 2^-24 exactly
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return FloatFromBits(sign | FloatBits(magnitude));
  }
  if (exponent == 31) {
    // A signalling NaN becomes quiet, as the conversion instructions do.
    const uint32_t quiet = mantissa != 0 ? 0x400000u : 0;
    return FloatFromBits(sign | 0x7f800000u | (mantissa << 13) | quiet);
  }
  return FloatFromBits(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

// Rounds to nearest, ties to even; values that are too large become infinite.
inline uint16_t FloatToHalf(float value) {
  const uint32_t bits = FloatBits(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    return static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  }
  // 65520 and above round to infinity.
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {  // below 2^-14: subnormal
    // Adding 2^-1 puts units of 2^-24 into the low bits, rounded by the adder.
    const float shifted = FloatFromBits(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (FloatBits(shifted) - 0x3f000000u));
  }
  const uint32_t rounded =
      magnitude + 0xfffu + ((magnitude >> 13) & 1u) - (112u << 23);
  return static_cast<uint16_t>(sign | (rounded >> 13));
}

}  // namespace mace

#endif  // MACE_CORE_BASE_HALF_H_
