// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/pool/quantized_pool.h"
#include "mace/kernels/cpu/simd.h"
#include "mace/kernels/cpu/simd_quantized.h"

namespace mace::pool::MACE_ISA {
namespace {
namespace sv = simd::MACE_ISA;

// A sum of so many elements fits 16 bits.
constexpr size_t kShortSum = 256;

// Calls add(x) for each element of the window, of the channels from `channel`.
template <typename Add>
MACE_SIMD_INLINE void ForEach(const Window &w, ptrdiff_t channel, Add add) {
  for (size_t r = 0; r < w.rows; ++r) {
    const uint8_t *x = static_cast<const uint8_t *>(w.first) + channel +
                       static_cast<ptrdiff_t>(r) * w.row_stride;
    for (size_t c = 0; c < w.columns; ++c, x += w.column_stride) add(x);
  }
}

MACE_SIMD_INLINE void Finish(const QuantizedParams &p,
                             sv::VI (&sums)[4],
                             size_t elements,
                             size_t left,
                             uint8_t *y) {
  const int32_t zeros = static_cast<int32_t>(elements) * p.x_zero;
  const sv::V scale = sv::Set(p.scale);
  for (sv::VI &sum : sums) sum = sv::StepsOf(sum - zeros, scale);
  sv::StoreElements(y, sv::PackSteps(sv::MakeRequantizer(p), sums), left,
                    p.y_mask);
}

void Max(const QuantizedParams &p,
         const Window &w,
         size_t channels,
         uint8_t *y) {
  // Results with the scale and zero point of the image need no arithmetic.
  const bool same = p.scale == 1.0f && p.x_zero == p.zero;
  const sv::Requantizer limits = sv::MakeRequantizer(p);
  for (size_t channel = 0; channel < channels; channel += sv::kDotColumns) {
    const size_t left = channels - channel;
    // The least number of the type.
    sv::VDotBytes largest = sv::VDotBytes{} + (sv::kDotRowsUnsigned ? 0 : 0x80);
    if (left >= sv::kDotColumns && p.x_mask == 0) {
      ForEach(w, static_cast<ptrdiff_t>(channel), [&](const uint8_t *x) {
        largest = sv::MaxElements(largest, sv::LoadDotBytes(x));
      });
    } else {
      ForEach(w, static_cast<ptrdiff_t>(channel), [&](const uint8_t *x) {
        largest = sv::MaxElements(largest, sv::LoadElements(x, left, p.x_mask));
      });
    }
    if (same) {
      sv::StoreElements(y + channel, sv::LimitBytes(limits, largest), left,
                        p.y_mask);
      continue;
    }
    sv::VI numbers[4];
    sv::WidenElements(largest, numbers);
    Finish(p, numbers, 1, left, y + channel);
  }
}

void Sum(const QuantizedParams &p,
         const Window &w,
         size_t channels,
         uint8_t *y) {
  const size_t elements = w.rows * w.columns;
  for (size_t channel = 0; channel < channels; channel += sv::kDotColumns) {
    const size_t left = channels - channel;
    sv::VI sums[4] = {};
    if (elements <= kShortSum) {
      sv::ShortSums of_pairs{};
      ForEach(w, static_cast<ptrdiff_t>(channel), [&](const uint8_t *x) {
        sv::AddElements(sv::LoadElements(x, left, p.x_mask), &of_pairs);
      });
      sv::WidenSums(of_pairs, sums);
    } else {
      ForEach(w, static_cast<ptrdiff_t>(channel), [&](const uint8_t *x) {
        sv::VI numbers[4];
        sv::WidenElements(sv::LoadElements(x, left, p.x_mask), numbers);
        for (int v = 0; v < 4; ++v) sums[v] += numbers[v];
      });
    }
    Finish(p, sums, elements, left, y + channel);
  }
}

}  // namespace

extern const QuantizedKernels kQuantizedKernels;
const QuantizedKernels kQuantizedKernels = {&Max, &Sum};

}  // namespace mace::pool::MACE_ISA
