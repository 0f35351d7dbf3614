// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The one-dimensional transforms, by tile size, and the addresses of points.
// Included only by the transforms of whole tiles.

#ifndef MACE_KERNELS_CPU_WINOGRAD_WINOGRAD_TILE_H_
#define MACE_KERNELS_CPU_WINOGRAD_WINOGRAD_TILE_H_

#include <cstddef>
#include <type_traits>

#include "mace/kernels/cpu/simd_element.h"

// Loops over rows, columns and points must be unrolled; otherwise the values do
// not stay in registers.
#define MACE_UNROLL _Pragma("clang loop unroll(full)")

namespace mace::winograd::MACE_ISA {

namespace sv = simd::MACE_ISA::element;
namespace fv = simd::MACE_ISA;        // of float: for filters
namespace pv = simd::MACE_ISA::kept;  // of transformed values
using sv::Element;                    // of images
using Point = pv::Element;

// m = 2: points 0, 1, -1, infinity.
struct Tile2 {
  static constexpr int kOutputs = 2;
  static constexpr int kPoints = 4;

  MACE_SIMD_INLINE void Input(const sv::V (&d)[4], sv::V (&v)[4]) {
    v[0] = d[0] - d[2];
    v[1] = d[1] + d[2];
    v[2] = d[2] - d[1];
    v[3] = d[1] - d[3];
  }
  MACE_SIMD_INLINE void Filter(const fv::V (&g)[3], fv::V (&u)[4]) {
    const fv::V even = (g[0] + g[2]) * 0.5f;
    const fv::V odd = g[1] * 0.5f;
    u[0] = g[0];
    u[1] = even + odd;
    u[2] = even - odd;
    u[3] = g[2];
  }
  MACE_SIMD_INLINE void Output(const sv::V (&m)[4], sv::V (&y)[2]) {
    y[0] = m[0] + (m[1] + m[2]);
    y[1] = (m[1] - m[2]) - m[3];
  }
};

// m = 4: points 0, a, -a, b, -b, infinity. With M(x) = x (x^2 - a^2)(x^2 - b^2)
// the rows of B' are the coefficients of M(x) / (x - p), and of M(x) itself for
// infinity; those of G are 1, p, p^2 over M'(p); columns of A' are the powers
// of p. Rows of a pair +-p differ by the sign of their odd part alone.
struct Tile4 {
  static constexpr int kOutputs = 4;
  static constexpr int kPoints = 6;
  static constexpr float kA = 0.75f;
  static constexpr float kB = 1.5f;
  static constexpr float kA2 = kA * kA;
  static constexpr float kB2 = kB * kB;

  MACE_SIMD_INLINE void Input(const sv::V (&d)[6], sv::V (&v)[6]) {
    constexpr float kSum = kA2 + kB2;
    constexpr float kProduct = kA2 * kB2;
    v[0] = (d[4] - d[2] * sv::Set(kSum)) + d[0] * sv::Set(kProduct);
    v[5] = (d[5] - d[3] * sv::Set(kSum)) + d[1] * sv::Set(kProduct);
    const sv::V even_a = d[4] - d[2] * sv::Set(kB2);
    const sv::V odd_a = d[3] - d[1] * sv::Set(kB2);
    v[1] = even_a + odd_a * sv::Set(kA);
    v[2] = even_a - odd_a * sv::Set(kA);
    const sv::V even_b = d[4] - d[2] * sv::Set(kA2);
    const sv::V odd_b = d[3] - d[1] * sv::Set(kA2);
    v[3] = even_b + odd_b * sv::Set(kB);
    v[4] = even_b - odd_b * sv::Set(kB);
  }
  MACE_SIMD_INLINE void Filter(const fv::V (&g)[3], fv::V (&u)[6]) {
    constexpr float kSlope0 = 1.0f / (kA2 * kB2);
    constexpr float kSlopeA = 1.0f / (2.0f * kA2 * (kA2 - kB2));
    constexpr float kSlopeB = 1.0f / (2.0f * kB2 * (kB2 - kA2));
    u[0] = g[0] * kSlope0;
    const fv::V even_a = g[0] * kSlopeA + g[2] * (kA2 * kSlopeA);
    const fv::V odd_a = g[1] * (kA * kSlopeA);
    u[1] = even_a + odd_a;
    u[2] = even_a - odd_a;
    const fv::V even_b = g[0] * kSlopeB + g[2] * (kB2 * kSlopeB);
    const fv::V odd_b = g[1] * (kB * kSlopeB);
    u[3] = even_b + odd_b;
    u[4] = even_b - odd_b;
    u[5] = g[2];
  }
  MACE_SIMD_INLINE void Output(const sv::V (&m)[6], sv::V (&y)[4]) {
    const sv::V even_a = m[1] + m[2];
    const sv::V odd_a = m[1] - m[2];
    const sv::V even_b = m[3] + m[4];
    const sv::V odd_b = m[3] - m[4];
    y[0] = m[0] + (even_a + even_b);
    y[1] = odd_a * sv::Set(kA) + odd_b * sv::Set(kB);
    y[2] = even_a * sv::Set(kA2) + even_b * sv::Set(kB2);
    y[3] = (odd_a * sv::Set(kA * kA2) + odd_b * sv::Set(kB * kB2)) + m[5];
  }
};

template <typename T>
MACE_SIMD_INLINE T *At(T *p, ptrdiff_t bytes) {
  using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
  return reinterpret_cast<T *>(reinterpret_cast<Byte *>(p) + bytes);
}

// Multiples of a distance of T, in bytes, each in its own register.
template <typename T, int kCount>
MACE_SIMD_INLINE void MakeOffsets(size_t distance, ptrdiff_t (&to)[kCount]) {
  MACE_UNROLL for (int i = 0; i < kCount; ++i) {
    to[i] = sv::Opaque(i * static_cast<ptrdiff_t>(distance * sizeof(T)));
  }
}

}  // namespace mace::winograd::MACE_ISA

#endif  // MACE_KERNELS_CPU_WINOGRAD_WINOGRAD_TILE_H_
