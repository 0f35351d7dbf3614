// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// How a tile of sums of 8-bit products becomes floats (dynamic_gemm.h).
// Included only by quantized_gemm_isa.cc.

#ifndef MACE_KERNELS_CPU_GEMM_FLOAT_RESULTS_H_
#define MACE_KERNELS_CPU_GEMM_FLOAT_RESULTS_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/gemm/dot_tiles.h"
#include "mace/kernels/cpu/gemm/dynamic_gemm.h"

namespace mace::gemm::MACE_ISA {

// Keeps a product from being fused with the addition that follows it.
MACE_SIMD_INLINE sv::V RoundedByItself(sv::V x) {
#if defined(__SSE4_1__)
  __asm__("" : "+v"(x));
#else
  __asm__("" : "+w"(x));
#endif
  return x;
}

// The first `count` elements, at most a vector; the others are 0.
template <typename Vector, typename T>
MACE_SIMD_INLINE Vector LoadSome(const T *from, size_t count) {
  Vector v = {};
  if (count >= sv::kLanes) {
    __builtin_memcpy(&v, from, sizeof(v));
  } else {
    __builtin_memcpy(&v, from, count * sizeof(T));
  }
  return v;
}

MACE_SIMD_INLINE sv::V LoadFloats(const float *from) {
  sv::V v;
  __builtin_memcpy(&v, from, sizeof(v));
  return v;
}
MACE_SIMD_INLINE sv::VU LoadUints(const uint32_t *from) {
  sv::VU v;
  __builtin_memcpy(&v, from, sizeof(v));
  return v;
}

// float(sum) * (scale of the row * that of the column) + bias.
MACE_SIMD_INLINE sv::V ResultOf(sv::VU sum,
                                sv::V row_scale,
                                sv::V column_scale,
                                sv::V bias) {
  const sv::V factor = RoundedByItself(row_scale * column_scale);
  return RoundedByItself(sv::ToFloat(reinterpret_cast<sv::VI>(sum)) * factor) +
         bias;
}

// A row of a tile with zero points of columns, a residual, a clamp, or columns
// that fill a vector only in part. Code for all of them in every tile would be
// large; the time of a call matters little.
template <int kVectors>
__attribute__((noinline)) void FinishRow(const Block &b,
                                         const DotTile &t,
                                         const sv::VI *sums) {
  const Dequantization &to = *b.epilogue.dequantization;
  const sv::V row_scale = sv::Set(to.row_scales[t.row]);
  const auto row_zero = static_cast<uint32_t>(to.row_zeros[t.row]);
  float *c = static_cast<float *>(b.c) + t.row * b.c_stride;
  const auto *residual = static_cast<const float *>(b.epilogue.residual);
  if (residual != nullptr) residual += t.row * b.epilogue.residual_stride;
  for (int v = 0; v < kVectors; ++v) {
    const size_t column = t.column + static_cast<size_t>(v) * sv::kLanes;
    if (column >= b.columns) return;
    const size_t count = b.columns - column;
    sv::VU sum = reinterpret_cast<sv::VU>(sums[v]) -
                 row_zero * LoadUints(to.column_sums + column);
    if (to.column_zeros != nullptr) {
      sum -= to.row_sums[t.row] * LoadUints(to.column_zeros + column);
    }
    sv::V result =
        ResultOf(sum, row_scale, LoadFloats(to.column_scales + column),
                 LoadFloats(to.bias + column));
    if (residual != nullptr) {
      result = result + LoadSome<sv::V>(residual + column, count);
    }
    if (b.epilogue.clamp) {
      result =
          sv::Clamp(result, sv::Set(b.epilogue.low), sv::Set(b.epilogue.high));
    }
    if (count >= sv::kLanes) {
      __builtin_memcpy(c + column, &result, sizeof(result));
    } else {
      __builtin_memcpy(c + column, &result, count * sizeof(float));
    }
  }
}

template <int kRows, int kVectors>
MACE_SIMD_INLINE void FinishFloats(const Block &b,
                                   const DotTile &t,
                                   const sv::DotSum (&acc)[kRows][kVectors]) {
  const Dequantization &to = *b.epilogue.dequantization;
  constexpr size_t kColumns = static_cast<size_t>(kVectors) * sv::kLanes;
  const bool plain = to.column_zeros == nullptr &&
                     b.epilogue.residual == nullptr && !b.epilogue.clamp &&
                     t.column + kColumns <= b.columns;
  if (__builtin_expect(plain, 1)) {
    float *c = static_cast<float *>(b.c) + t.row * b.c_stride + t.column;
    MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
      const size_t at = static_cast<size_t>(v) * sv::kLanes;
      const sv::VU column_sums = LoadUints(to.column_sums + t.column + at);
      const sv::V scale = LoadFloats(to.column_scales + t.column + at);
      const sv::V bias = LoadFloats(to.bias + t.column + at);
      MACE_UNROLL for (int r = 0; r < kRows; ++r) {
        const size_t row = t.row + static_cast<size_t>(r);
        const sv::VU sum =
            reinterpret_cast<sv::VU>(sv::DotLanes(acc[r][v])) -
            static_cast<uint32_t>(to.row_zeros[row]) * column_sums;
        const sv::V result =
            ResultOf(sum, sv::Set(to.row_scales[row]), scale, bias);
        __builtin_memcpy(c + static_cast<size_t>(r) * b.c_stride + at, &result,
                         sizeof(result));
      }
    }
    return;
  }
  sv::VI sums[kRows][kVectors];
  MACE_UNROLL for (int r = 0; r < kRows; ++r) {
    MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
      sums[r][v] = sv::DotLanes(acc[r][v]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    FinishRow<kVectors>(b, {t.row + static_cast<size_t>(r), t.column}, sums[r]);
  }
}

}  // namespace mace::gemm::MACE_ISA

#endif  // MACE_KERNELS_CPU_GEMM_FLOAT_RESULTS_H_
