// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/resize/quantized_resize.h"
#include "mace/kernels/cpu/simd.h"
#include "mace/kernels/cpu/simd_quantized.h"

namespace mace::resize::MACE_ISA {
namespace {
namespace sv = simd::MACE_ISA;

void Row(const QuantizedParams &p, const QuantizedRow &row, uint8_t *y) {
  const sv::Requantizer to = sv::MakeRequantizer(p);
  const sv::V scale = sv::Set(p.scale);
  for (size_t x = 0; x < row.width; ++x, y += row.y_stride) {
    // The elements of the pixel, and their weights.
    const uint8_t *from[kMostTaps * kMostTaps];
    int32_t weights[kMostTaps * kMostTaps];
    size_t taps = 0;
    for (size_t r = 0; r < row.row_taps; ++r) {
      for (size_t c = 0; c < row.taps; ++c) {
        const int32_t weight =
            row.row_weights[r] * row.weights[x * row.taps + c];
        if (weight == 0) continue;
        from[taps] = row.rows[r] +
                     (static_cast<size_t>(row.first[x]) + c) * row.x_stride;
        weights[taps++] = weight;
      }
    }
    for (size_t i = 0; i < row.channels; i += sv::kLanes) {
      const size_t left = row.channels - i;
      const size_t count = left < sv::kLanes ? left : sv::kLanes;
      sv::VI sum = sv::SetInt(-kOne * kOne * p.x_zero);
      for (size_t k = 0; k < taps; ++k) {
        sum += sv::LoadQuantized(from[k] + i, count, p.x_mask) * weights[k];
      }
      sv::StoreQuantized(y + i, sv::Requantize(to, sum, scale), count,
                         p.y_mask);
    }
  }
}

}  // namespace

extern const QuantizedKernels kQuantizedKernels;
const QuantizedKernels kQuantizedKernels = {&Row};

}  // namespace mace::resize::MACE_ISA
