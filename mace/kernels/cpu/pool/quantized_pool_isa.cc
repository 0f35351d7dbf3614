// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/pool/quantized_pool.h"
#include "mace/kernels/cpu/simd.h"

#define MACE_UNROLL _Pragma("clang loop unroll(full)")

namespace mace::pool::MACE_ISA {
namespace {
namespace sv = simd::MACE_ISA;

#if defined(__SSE4_1__)
using Bytes = sv::VU8;
#else
using Bytes = sv::VI8;
#endif

enum class Fold { kMax, kSum };

// The first `count` elements, at most a vector.
MACE_SIMD_INLINE sv::VI Elements(const uint8_t *from,
                                 uint8_t mask,
                                 size_t count) {
  sv::VU8 bytes{};
  if (count == sv::kLanes) {
    __builtin_memcpy(&bytes, from, sv::kLanes);
  } else {
    __builtin_memcpy(&bytes, from, count);
  }
  bytes ^= mask;
  return __builtin_convertvector(reinterpret_cast<Bytes>(bytes), sv::VI);
}

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
        const sv::VI q = Elements(x + v * sv::kLanes, p.x_mask, count(v));
        folded[v] = kFold == Fold::kSum
                        ? folded[v] + q
                        : sv::SelectInt(q > folded[v], q, folded[v]);
      }
    }
  }
  const auto elements =
      static_cast<int32_t>(kFold == Fold::kSum ? w.rows * w.columns : 1);
  // Before the zero point is added, exactly.
  const sv::V low = sv::Set(static_cast<float>(p.low - p.zero));
  const sv::V high = sv::Set(static_cast<float>(p.high - p.zero));
  MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
    const sv::V steps =
        sv::ToFloat(folded[v] - elements * p.x_zero) * sv::Set(p.scale);
    const sv::VI rounded = sv::ToInt(sv::Round(sv::Clamp(steps, low, high)));
    sv::VU8 bytes = reinterpret_cast<sv::VU8>(
        __builtin_convertvector(rounded + p.zero, Bytes));
    bytes ^= p.y_mask;
    uint8_t *to = y + channel + v * sv::kLanes;
    if (count(v) == sv::kLanes) {
      __builtin_memcpy(to, &bytes, sv::kLanes);
    } else {
      __builtin_memcpy(to, &bytes, count(v));
    }
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
