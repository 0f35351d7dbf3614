// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/pool/pool.h"

#include "mace/kernels/cpu/simd.h"

namespace mace::pool::MACE_ISA {

namespace sv = simd::MACE_ISA;

namespace {

// Vectors of channels per pass: enough independent chains to hide the latency
// of an addition.
constexpr int kBlock = 4;

// NaN from either side: of simd.h's Max the first argument's NaN survives, so
// one in the maximum so far needs no care and one in the tap is selected.
MACE_SIMD_INLINE sv::V MaxOf(sv::V best, sv::V tap) {
  const sv::V larger = sv::Max(best, tap);
  if constexpr (sv::kMaxKeepsNan) return larger;
  // NOLINTNEXTLINE(misc-redundant-expression)
  return sv::Select(tap != tap, tap, larger);
}

template <int kVectors>
MACE_SIMD_INLINE void MaxTap(const float *tap, sv::V (&best)[kVectors]) {
  for (int v = 0; v < kVectors; ++v) {
    best[v] = MaxOf(best[v], sv::Load(tap + v * sv::kLanes));
  }
}

template <int kVectors>
MACE_SIMD_INLINE void MaxBlock(const Window &w, size_t channel, float *out) {
  sv::V best[kVectors];
  const float *row = w.first + channel;
  for (int v = 0; v < kVectors; ++v) best[v] = sv::Load(row + v * sv::kLanes);
  if (w.columns == 3) {  // most windows
    for (size_t r = 0; r < w.rows; ++r, row += w.row_stride) {
      const float *second = row + w.column_stride;
      MaxTap<kVectors>(row, best);
      MaxTap<kVectors>(second, best);
      MaxTap<kVectors>(second + w.column_stride, best);
    }
  } else {
    for (size_t r = 0; r < w.rows; ++r, row += w.row_stride) {
      const float *tap = row;
      for (size_t c = 0; c < w.columns; ++c, tap += w.column_stride) {
        MaxTap<kVectors>(tap, best);
      }
    }
  }
  for (int v = 0; v < kVectors; ++v) {
    sv::Store(out + channel + v * sv::kLanes, best[v]);
  }
}

void MaxTail(const Window &w, size_t channel, int left, float *out) {
  const float *row = w.first + channel;
  sv::V best = sv::LoadN(row, left);
  for (size_t r = 0; r < w.rows; ++r, row += w.row_stride) {
    const float *tap = row;
    for (size_t c = 0; c < w.columns; ++c, tap += w.column_stride) {
      best = MaxOf(best, sv::LoadN(tap, left));
    }
  }
  sv::StoreN(out + channel, best, left);
}

template <int kVectors>
MACE_SIMD_INLINE void AverageBlock(const Window &w,
                                   sv::V divisor,
                                   size_t channel,
                                   float *out) {
  sv::V total[kVectors] = {};
  const float *row = w.first + channel;
  for (size_t r = 0; r < w.rows; ++r, row += w.row_stride) {
    sv::V sum[kVectors] = {};
    const float *tap = row;
    for (size_t c = 0; c < w.columns; ++c, tap += w.column_stride) {
      for (int v = 0; v < kVectors; ++v) {
        sum[v] = sum[v] + sv::Load(tap + v * sv::kLanes);
      }
    }
    for (int v = 0; v < kVectors; ++v) total[v] = total[v] + sum[v];
  }
  for (int v = 0; v < kVectors; ++v) {
    sv::Store(out + channel + v * sv::kLanes, total[v] / divisor);
  }
}

void AverageTail(
    const Window &w, sv::V divisor, size_t channel, int left, float *out) {
  sv::V total = sv::Zero();
  const float *row = w.first + channel;
  for (size_t r = 0; r < w.rows; ++r, row += w.row_stride) {
    sv::V sum = sv::Zero();
    const float *tap = row;
    for (size_t c = 0; c < w.columns; ++c, tap += w.column_stride) {
      sum = sum + sv::LoadN(tap, left);
    }
    total = total + sum;
  }
  sv::StoreN(out + channel, total / divisor, left);
}

void Max(const Window &w, size_t channels, float *out) {
  size_t c = 0;
  for (; c + kBlock * sv::kLanes <= channels; c += kBlock * sv::kLanes) {
    MaxBlock<kBlock>(w, c, out);
  }
  for (; c + sv::kLanes <= channels; c += sv::kLanes) MaxBlock<1>(w, c, out);
  if (c < channels) MaxTail(w, c, static_cast<int>(channels - c), out);
}

void Average(const Window &w, float divisor, size_t channels, float *out) {
  const sv::V d = sv::Set(divisor);
  size_t c = 0;
  for (; c + kBlock * sv::kLanes <= channels; c += kBlock * sv::kLanes) {
    AverageBlock<kBlock>(w, d, c, out);
  }
  for (; c + sv::kLanes <= channels; c += sv::kLanes) {
    AverageBlock<1>(w, d, c, out);
  }
  if (c < channels) AverageTail(w, d, c, static_cast<int>(channels - c), out);
}

}  // namespace

extern const Kernels kKernels = {Max, Average};

}  // namespace mace::pool::MACE_ISA
