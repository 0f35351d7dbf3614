// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Quantized elements of 8 bits: uint8 on x86 and int8 elsewhere, as products of
// 8-bit integers read them in place (kDotRowsUnsigned in simd_dot.h). A kernel
// source includes this beside simd.h, whose conventions apply.

#ifndef MACE_KERNELS_CPU_SIMD_QUANTIZED_H_
#define MACE_KERNELS_CPU_SIMD_QUANTIZED_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/simd_arithmetic.h"

namespace mace::simd::MACE_ISA {

// kLanes elements.
#if defined(__SSE4_1__)
using VQuantized = VU8;
#else
using VQuantized = VI8;
#endif

// The first `count` elements, at most kLanes; others are those of byte 0. Bytes
// are combined with `mask` (exclusive or).
MACE_SIMD_INLINE VI LoadQuantized(const uint8_t *p,
                                  size_t count,
                                  uint8_t mask) {
  VU8 bytes{};
  if (count == kLanes) {
    __builtin_memcpy(&bytes, p, kLanes);
  } else {
    __builtin_memcpy(&bytes, p, count);
  }
  bytes ^= mask;
  return __builtin_convertvector(reinterpret_cast<VQuantized>(bytes), VI);
}
MACE_SIMD_INLINE VI SetQuantized(uint8_t x, uint8_t mask) {
  const VU8 bytes = VU8{} + static_cast<uint8_t>(x ^ mask);
  return __builtin_convertvector(reinterpret_cast<VQuantized>(bytes), VI);
}
// The reverse of LoadQuantized, for numbers that fit.
MACE_SIMD_INLINE void StoreQuantized(uint8_t *p,
                                     VI q,
                                     size_t count,
                                     uint8_t mask) {
  VU8 bytes = reinterpret_cast<VU8>(__builtin_convertvector(q, VQuantized));
  bytes ^= mask;
  if (count == kLanes) {
    __builtin_memcpy(p, &bytes, kLanes);
  } else {
    __builtin_memcpy(p, &bytes, count);
  }
}

// What makes elements of sums: clamp(round(float(sum) * scale) + zero, low,
// high), ties to even.
struct Requantizer {
  V low;  // less the zero point: numbers are clamped before it is added,
          // exactly
  V high;
  VI zero;
};
// `p` has zero, low and high.
template <typename Params>
MACE_SIMD_INLINE Requantizer MakeRequantizer(const Params &p) {
  return {Set(static_cast<float>(p.low - p.zero)),
          Set(static_cast<float>(p.high - p.zero)), SetInt(p.zero)};
}
MACE_SIMD_INLINE VI Requantize(const Requantizer &to, VI sum, V scale) {
  return ToInt(Round(Clamp(ToFloat(sum) * scale, to.low, to.high))) + to.zero;
}

}  // namespace mace::simd::MACE_ISA

#endif  // MACE_KERNELS_CPU_SIMD_QUANTIZED_H_
