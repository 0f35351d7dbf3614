// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/pool/quantized_pool.h"
#include "mace/kernels/cpu/simd.h"
#include "mace/kernels/cpu/simd_quantized.h"

#define MACE_UNROLL _Pragma("clang loop unroll(full)")

namespace mace::pool::MACE_ISA {
namespace {
namespace sv = simd::MACE_ISA;

enum class Fold { kMax, kSum };

// kVectors vectors of channels, of which the last one has `last` elements.
template <Fold kFold, int kVectors>
MACE_SIMD_INLINE void Pixel(const QuantizedParams &p,
                            const Window &w,
                            ptrdiff_t channel,
                            size_t last,
                            uint8_t *y) {
  const auto count = [last](int v) {
    return v + 1 < kVectors ? static_cast<size_t>(sv::kLanes) : last;
  };
  sv::VI folded[kVectors];
  MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
    // The least of both types.
    folded[v] = sv::SetInt(kFold == Fold::kMax ? -128 : 0);
  }
  for (size_t r = 0; r < w.rows; ++r) {
    const uint8_t *x = static_cast<const uint8_t *>(w.first) + channel +
                       static_cast<ptrdiff_t>(r) * w.row_stride;
    for (size_t c = 0; c < w.columns; ++c, x += w.column_stride) {
      MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
        const sv::VI q =
            sv::LoadQuantized(x + v * sv::kLanes, count(v), p.x_mask);
        folded[v] = kFold == Fold::kSum
                        ? folded[v] + q
                        : sv::SelectInt(q > folded[v], q, folded[v]);
      }
    }
  }
  const auto elements =
      static_cast<int32_t>(kFold == Fold::kSum ? w.rows * w.columns : 1);
  const sv::Requantizer to = sv::MakeRequantizer(p);
  MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
    const sv::VI sum = folded[v] - elements * p.x_zero;
    sv::StoreQuantized(y + channel + v * sv::kLanes,
                       sv::Requantize(to, sum, sv::Set(p.scale)), count(v),
                       p.y_mask);
  }
}

template <Fold kFold>
void Run(const QuantizedParams &p,
         const Window &window,
         size_t channels,
         uint8_t *y) {
  constexpr int kMost = 4;
  constexpr size_t kLanes = sv::kLanes;
  size_t channel = 0;
  for (; channel + kMost * kLanes <= channels; channel += kMost * kLanes) {
    Pixel<kFold, kMost>(p, window, static_cast<ptrdiff_t>(channel), kLanes, y);
  }
  for (; channel < channels; channel += kLanes) {
    const size_t left = channels - channel;
    Pixel<kFold, 1>(p, window, static_cast<ptrdiff_t>(channel),
                    left < kLanes ? left : kLanes, y);
  }
}

}  // namespace

extern const QuantizedKernels kQuantizedKernels;
const QuantizedKernels kQuantizedKernels = {&Run<Fold::kMax>, &Run<Fold::kSum>};

}  // namespace mace::pool::MACE_ISA
