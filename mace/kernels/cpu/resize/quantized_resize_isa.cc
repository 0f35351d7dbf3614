// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/resize/quantized_resize.h"
#include "mace/kernels/cpu/simd.h"
#include "mace/kernels/cpu/simd_quantized.h"

namespace mace::resize::MACE_ISA {
namespace {
namespace sv = simd::MACE_ISA;

void Columns(const QuantizedColumns &columns,
             uint8_t x_mask,
             const uint8_t *row,
             int32_t *__restrict h) {
  const size_t channels = columns.channels;
  for (size_t x = 0; x < columns.width; ++x, h += channels) {
    const uint8_t *from =
        row + static_cast<size_t>(columns.first[x]) * columns.x_stride;
    const int32_t *weights = columns.weights + x * columns.taps;
    const bool one = columns.taps == 1;
    const uint8_t *next = one ? from : from + columns.x_stride;
    // The other weight is kOne less this one.
    const int32_t weight = weights[0];
    for (size_t i = 0; i < channels; ++i) {
      const int32_t a = static_cast<sv::QuantizedElement>(from[i] ^ x_mask);
      const int32_t b = static_cast<sv::QuantizedElement>(next[i] ^ x_mask);
      h[i] = weight * (a - b) + kOne * b;
    }
  }
}

void Blend(const QuantizedParams &p,
           const int32_t *const *rows,
           const int32_t *row_weights,
           size_t count,
           uint8_t *y) {
  const sv::Requantizer to = sv::MakeRequantizer(p);
  const sv::V scale = sv::Set(p.scale);
  const bool one = rows[1] == nullptr;
  const int32_t *a = rows[0];
  const int32_t *b = one ? a : rows[1];
  const sv::VI weight = sv::SetInt(row_weights[0]);
  const sv::VI start = sv::SetInt(-kOne * kOne * p.x_zero);
  for (size_t i = 0; i < count; i += sv::kDotColumns) {
    const size_t left = count - i;
    const size_t n = left < sv::kDotColumns ? left : sv::kDotColumns;
    sv::VI s[4] = {};
    sv::VI t[4] = {};
    if (n == sv::kDotColumns) {
      __builtin_memcpy(s, a + i, sizeof(s));
      __builtin_memcpy(t, b + i, sizeof(t));
    } else {
      __builtin_memcpy(s, a + i, n * sizeof(*a));
      __builtin_memcpy(t, b + i, n * sizeof(*b));
    }
    sv::VI steps[4];
    for (int v = 0; v < 4; ++v) {
      const sv::VI sum = start + (s[v] - t[v]) * weight + t[v] * kOne;
      steps[v] = sv::StepsOf(sum, scale);
    }
    sv::StoreElements(y + i, sv::InOrder(sv::PackSteps(to, steps)), n,
                      p.y_mask);
  }
}

}  // namespace

extern const QuantizedKernels kQuantizedKernels;
const QuantizedKernels kQuantizedKernels = {&Columns, &Blend};

}  // namespace mace::resize::MACE_ISA
