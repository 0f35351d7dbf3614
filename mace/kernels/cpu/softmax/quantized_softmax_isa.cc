// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/simd.h"
#include "mace/kernels/cpu/simd_quantized.h"
#include "mace/kernels/cpu/softmax/quantized_softmax.h"

namespace mace::softmax::MACE_ISA {
namespace {
namespace sv = simd::MACE_ISA;

constexpr size_t kEntries = 256;

// Writes kDotColumns results, or `count` if these are fewer.
MACE_SIMD_INLINE void Finish(const sv::Requantizer &to,
                             const int32_t *exponentials,
                             sv::V factor,
                             uint8_t *y,
                             size_t count,
                             uint8_t mask) {
  sv::VI steps[4];
  __builtin_memcpy(steps, exponentials, sizeof(steps));
  for (sv::VI &step : steps) step = sv::StepsOf(step, factor);
  sv::StoreElements(y, sv::InOrder(sv::PackSteps(to, steps)), count, mask);
}

void Row(const QuantizedParams &p, const uint8_t *x, uint8_t *y, size_t n) {
  uint8_t most = 0;
  uint8_t least = 255;
  for (size_t i = 0; i < n; ++i) {
    const auto q = static_cast<uint8_t>(x[i] ^ p.x_mask);
    most = q > most ? q : most;
    least = q < least ? q : least;
  }
  // Differences modulo 256 are the same in both types.
  const auto first = static_cast<uint8_t>(most ^ p.x_mask);
  int64_t sum = 0;
  for (size_t i = 0; i < n; ++i) {
    sum += p.exponentials[static_cast<uint8_t>(first - x[i])];
  }
  const auto factor =
      static_cast<float>(1.0 / (static_cast<double>(sum) * p.scale));
  const sv::Requantizer to = sv::MakeRequantizer(p);
  const sv::V m = sv::Set(factor);
  const size_t count = static_cast<size_t>(most - least) + 1;
  if (n < count) {
    for (size_t i = 0; i < n; i += sv::kDotColumns) {
      const size_t left = n - i;
      const size_t some = left < sv::kDotColumns ? left : sv::kDotColumns;
      int32_t found[sv::kDotColumns] = {};
      for (size_t l = 0; l < some; ++l) {
        found[l] = p.exponentials[static_cast<uint8_t>(first - x[i + l])];
      }
      Finish(to, found, m, y + i, left, p.y_mask);
    }
    return;
  }
  // The results by k, of which those up to most - least are in the row.
  uint8_t results[kEntries];
  for (size_t k = 0; k < count; k += sv::kDotColumns) {
    Finish(to, p.exponentials + k, m, results + k, sv::kDotColumns, p.y_mask);
  }
  for (size_t i = 0; i < n; ++i) {
    y[i] = results[static_cast<uint8_t>(first - x[i])];
  }
}

void Rows(const QuantizedParams &p,
          const uint8_t *x,
          uint8_t *y,
          size_t rows,
          size_t n) {
  for (size_t r = 0; r < rows; ++r) Row(p, x + r * n, y + r * n, n);
}

}  // namespace

extern const QuantizedKernels kQuantizedKernels;
const QuantizedKernels kQuantizedKernels = {&Rows};

}  // namespace mace::softmax::MACE_ISA
