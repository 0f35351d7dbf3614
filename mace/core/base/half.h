// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Conversions of 16-bit floating point, one value at a time, for copies between
// the caller and the engine. They have no branches, so that the compiler turns
// loops over them into vector code. Kernels have their own vector forms.

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
  const uint32_t rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return static_cast<uint16_t>((is_nan ? bits | 0x400000u : rounded) >> 16);
}

// The least normal number of binary16, and the least that rounds to infinity.
inline constexpr float kLeastNormalHalf = 0x1p-14f;
inline constexpr float kBeyondHalf = 65520.0f;

// IEEE 754 binary16. A signalling NaN becomes quiet; to binary16, values are
// rounded to nearest, ties to even, and those that are too large become
// infinite.
#ifdef __aarch64__
inline float HalfToFloat(uint16_t value) {
  __fp16 half;
  std::memcpy(&half, &value, sizeof(half));
  return half;
}

inline uint16_t FloatToHalf(float value) {
  const auto half = static_cast<__fp16>(value);
  uint16_t bits;
  std::memcpy(&bits, &half, sizeof(bits));
  return bits;
}
#else
inline float HalfToFloat(uint16_t value) {
  const uint32_t sign = static_cast<uint32_t>(value & 0x8000u) << 16;
  const uint32_t magnitude = value & 0x7fffu;
  const uint32_t shifted = magnitude << 13;
  // With the exponent of 2^-14, the bits below 2^-14 are added to it.
  const uint32_t small =
      FloatBits(FloatFromBits(shifted + (113u << 23)) - kLeastNormalHalf);
  const uint32_t quiet = magnitude > 0x7c00u ? 0x400000u : 0;
  const uint32_t large = (shifted + (224u << 23)) | quiet;
  const uint32_t normal = shifted + (112u << 23);
  const uint32_t finite = magnitude < 0x400u ? small : normal;
  return FloatFromBits(sign | (magnitude >= 0x7c00u ? large : finite));
}

inline uint16_t FloatToHalf(float value) {
  const uint32_t bits = FloatBits(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  // Below 2^-14: adding 2^-1 puts units of 2^-24 into the low bits, rounded by
  // the adder.
  const uint32_t small =
      FloatBits(FloatFromBits(magnitude) + 0.5f) - 0x3f000000u;
  const uint32_t normal =
      (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - (112u << 23)) >> 13;
  const uint32_t finite = magnitude < 0x38800000u ? small : normal;
  // The bits of kBeyondHalf.
  const uint32_t number = magnitude >= 0x477ff000u ? 0x7c00u : finite;
  const uint32_t nan = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  return static_cast<uint16_t>(sign | (magnitude > 0x7f800000u ? nan : number));
}
#endif

}  // namespace mace

#endif  // MACE_CORE_BASE_HALF_H_
