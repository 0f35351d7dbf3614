// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/pool/pool.h"

#include "mace/kernels/cpu/simd_element.h"

namespace mace::pool::MACE_ISA {

namespace sv = simd::MACE_ISA::element;
using sv::Element;

namespace {

// Vectors of channels per pass: enough independent chains to hide the latency
// of an addition.
constexpr int kBlock = 4;

// A NaN on either side gives NaN: Max of simd.h returns a NaN in its first
// argument, the maximum so far, and a NaN in the tap is selected here.
MACE_SIMD_INLINE sv::V MaxOf(sv::V best, sv::V tap) {
  const sv::V larger = sv::Max(best, tap);
  if constexpr (sv::kMaxKeepsNan) return larger;
  return sv::Select(tap != tap, tap, larger);
}

template <int kVectors>
MACE_SIMD_INLINE void MaxTap(const Element *tap, sv::V (&best)[kVectors]) {
  for (int v = 0; v < kVectors; ++v) {
    best[v] = MaxOf(best[v], sv::Load(tap + v * sv::kLanes));
  }
}

template <int kVectors>
MACE_SIMD_INLINE void MaxBlock(const Window &w, size_t channel, Element *out) {
  sv::V best[kVectors];
  const Element *row = static_cast<const Element *>(w.first) + channel;
  for (int v = 0; v < kVectors; ++v) best[v] = sv::Load(row + v * sv::kLanes);
  if (w.columns == 3) {  // most windows
    for (size_t r = 0; r < w.rows; ++r, row += w.row_stride) {
      const Element *second = row + w.column_stride;
      MaxTap<kVectors>(row, best);
      MaxTap<kVectors>(second, best);
      MaxTap<kVectors>(second + w.column_stride, best);
    }
  } else {
    for (size_t r = 0; r < w.rows; ++r, row += w.row_stride) {
      const Element *tap = row;
      for (size_t c = 0; c < w.columns; ++c, tap += w.column_stride) {
        MaxTap<kVectors>(tap, best);
      }
    }
  }
  for (int v = 0; v < kVectors; ++v) {
    sv::Store(out + channel + v * sv::kLanes, best[v]);
  }
}

void MaxTail(const Window &w, size_t channel, int left, Element *out) {
  const Element *row = static_cast<const Element *>(w.first) + channel;
  sv::V best = sv::LoadN(row, left);
  for (size_t r = 0; r < w.rows; ++r, row += w.row_stride) {
    const Element *tap = row;
    for (size_t c = 0; c < w.columns; ++c, tap += w.column_stride) {
      best = MaxOf(best, sv::LoadN(tap, left));
    }
  }
  sv::StoreN(out + channel, best, left);
}

template <int kVectors>
MACE_SIMD_INLINE void AverageBlock(const Window &w,
                                   float divisor,
                                   size_t channel,
                                   Element *out) {
  sv::Sum total[kVectors];
  for (int v = 0; v < kVectors; ++v) total[v] = sv::ZeroSum();
  const Element *row = static_cast<const Element *>(w.first) + channel;
  for (size_t r = 0; r < w.rows; ++r, row += w.row_stride) {
    sv::Sum sum[kVectors];
    for (int v = 0; v < kVectors; ++v) sum[v] = sv::ZeroSum();
    const Element *tap = row;
    for (size_t c = 0; c < w.columns; ++c, tap += w.column_stride) {
      for (int v = 0; v < kVectors; ++v) {
        sum[v] = sv::AddTo(sum[v], sv::Load(tap + v * sv::kLanes));
      }
    }
    for (int v = 0; v < kVectors; ++v) total[v] = sv::AddSums(total[v], sum[v]);
  }
  for (int v = 0; v < kVectors; ++v) {
    sv::Store(out + channel + v * sv::kLanes, sv::Quotient(total[v], divisor));
  }
}

void AverageTail(
    const Window &w, float divisor, size_t channel, int left, Element *out) {
  sv::Sum total = sv::ZeroSum();
  const Element *row = static_cast<const Element *>(w.first) + channel;
  for (size_t r = 0; r < w.rows; ++r, row += w.row_stride) {
    sv::Sum sum = sv::ZeroSum();
    const Element *tap = row;
    for (size_t c = 0; c < w.columns; ++c, tap += w.column_stride) {
      sum = sv::AddTo(sum, sv::LoadN(tap, left));
    }
    total = sv::AddSums(total, sum);
  }
  sv::StoreN(out + channel, sv::Quotient(total, divisor), left);
}

void Max(const Window &w, size_t channels, void *to) {
  Element *out = static_cast<Element *>(to);
  size_t c = 0;
  for (; c + kBlock * sv::kLanes <= channels; c += kBlock * sv::kLanes) {
    MaxBlock<kBlock>(w, c, out);
  }
  for (; c + sv::kLanes <= channels; c += sv::kLanes) MaxBlock<1>(w, c, out);
  if (c < channels) MaxTail(w, c, static_cast<int>(channels % sv::kLanes), out);
}

void Average(const Window &w, float divisor, size_t channels, void *to) {
  Element *out = static_cast<Element *>(to);
  size_t c = 0;
  for (; c + kBlock * sv::kLanes <= channels; c += kBlock * sv::kLanes) {
    AverageBlock<kBlock>(w, divisor, c, out);
  }
  for (; c + sv::kLanes <= channels; c += sv::kLanes) {
    AverageBlock<1>(w, divisor, c, out);
  }
  if (c < channels) {
    AverageTail(w, divisor, c, static_cast<int>(channels % sv::kLanes), out);
  }
}

}  // namespace

extern const Kernels kKernels = {Max, Average};

}  // namespace mace::pool::MACE_ISA
