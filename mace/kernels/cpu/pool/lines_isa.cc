// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "mace/kernels/cpu/pool/lines.h"
#include "mace/kernels/cpu/simd.h"

namespace mace::pool::MACE_ISA {

namespace sv = simd::MACE_ISA;

namespace {

template <size_t... kLane>
MACE_SIMD_INLINE sv::V EvenLanes(sv::V low,
                                 sv::V high,
                                 std::index_sequence<kLane...> /*lanes*/) {
  return __builtin_shufflevector(low, high, (2 * kLane)...);
}

// Every kStride-th float, or every stride-th if kStride is 0.
template <size_t kStride>
MACE_SIMD_INLINE sv::V LoadStrided(const float *x, size_t stride) {
  if constexpr (kStride == 1) return sv::Load(x);
  if constexpr (kStride == 2) {
    return EvenLanes(sv::Load(x), sv::Load(x + sv::kLanes),
                     std::make_index_sequence<sv::kLanes>());
  }
  sv::V v = {};
  for (int i = 0; i < sv::kLanes; ++i)
    v[i] = x[static_cast<size_t>(i) * stride];
  return v;
}

// A NaN on either side gives NaN; see pool_isa.cc.
MACE_SIMD_INLINE sv::V MaxOf(sv::V best, sv::V tap) {
  const sv::V larger = sv::Max(best, tap);
  if constexpr (sv::kMaxKeepsNan) return larger;
  return sv::Select(tap != tap, tap, larger);
}

// Vectors at the same time, so that none waits for the one before it.
constexpr size_t kBlock = 4;

template <bool kSum>
MACE_SIMD_INLINE sv::V Fold(sv::V a, sv::V b) {
  return kSum ? a + b : MaxOf(a, b);
}

// Calls fold(row) for all rows but the first one.
template <typename F>
MACE_SIMD_INLINE void EachRow(const Across &p, F fold) {
  const float *plane = p.x;
  for (size_t i = 0; i < p.planes; ++i, plane += p.plane_stride) {
    const float *row = i == 0 ? plane + p.row_stride : plane;
    for (size_t r = i == 0 ? 1 : 0; r < p.rows; ++r, row += p.row_stride) {
      fold(row);
    }
  }
}

template <bool kSum>
void RunAcross(const Across &p) {
  constexpr size_t kLanes = sv::kLanes;
  if (p.width < kLanes) {
    const int left = static_cast<int>(p.width);
    sv::V v = sv::LoadN(p.x, left);
    EachRow(p,
            [&](const float *row) { v = Fold<kSum>(v, sv::LoadN(row, left)); });
    return sv::StoreN(p.y, v, left);
  }
  // The last vectors may overlap, and then store the same.
  const size_t last = p.width - kLanes;
  for (size_t i = 0; i < p.width; i += kBlock * kLanes) {
    size_t at[kBlock];
    sv::V v[kBlock];
    for (size_t b = 0; b < kBlock; ++b) {
      const size_t own = i + b * kLanes;
      at[b] = own < last ? own : last;
      v[b] = sv::Load(p.x + at[b]);
    }
    EachRow(p, [&](const float *row) {
      for (size_t b = 0; b < kBlock; ++b) {
        v[b] = Fold<kSum>(v[b], sv::Load(row + at[b]));
      }
    });
    for (size_t b = 0; b < kBlock; ++b) sv::Store(p.y + at[b], v[b]);
  }
}

template <bool kAverage, size_t kStride>
void RunAlong(const Along &p) {
  const auto lanes = static_cast<size_t>(sv::kLanes);
  for (size_t row = 0; row < p.rows; ++row) {
    const float *x = p.x + row * p.x_stride;
    float *y = p.y + row * p.outputs;
    const sv::V divisor = sv::Set(kAverage ? p.row_divisors[row] : 1.0f);
    for (size_t i = 0; i < p.outputs; i += lanes) {
      const float *tap = x + i * (kStride == 0 ? p.stride : kStride);
      sv::V v = LoadStrided<kStride>(tap, p.stride);
      for (size_t k = 1; k < p.kernel; ++k) {
        tap += p.dilation;
        const sv::V next = LoadStrided<kStride>(tap, p.stride);
        v = Fold<kAverage>(v, next);
      }
      const size_t left = p.outputs - i;
      if (left >= lanes) {
        if (kAverage) v = v / (divisor * sv::Load(p.divisors + i));
        sv::Store(y + i, v);
        continue;
      }
      const int count = static_cast<int>(left);
      if (kAverage) v = v / (divisor * sv::LoadN(p.divisors + i, count));
      sv::StoreN(y + i, v, count);
    }
  }
}

// Outputs at a time of MaxOfRuns, and the longest window: what is between them
// stays in the first cache.
constexpr size_t kRun = 128;
constexpr size_t kLongest = 128;
// Shorter windows have fewer taps than MaxOfRuns has steps.
constexpr size_t kShortest = 4;

// The maximum of windows of adjacent elements, one element apart. Those of 2
// elements give those of 4, these those of 8, and so on; two of the longest
// that fit make a window, in which they may overlap.
void MaxOfRuns(const Along &p) {
  constexpr size_t kLanes = sv::kLanes;
  float runs[kRun + kLongest + kLanes];
  for (size_t row = 0; row < p.rows; ++row) {
    float *y = p.y + row * p.outputs;
    for (size_t at = 0; at < p.outputs; at += kRun) {
      const float *x = p.x + row * p.x_stride + at;
      const size_t outputs = p.outputs - at < kRun ? p.outputs - at : kRun;
      const size_t whole = (outputs + kLanes - 1) / kLanes * kLanes;
      // Runs of 2: as many as the line has, the last ones perhaps twice.
      size_t count = whole + p.kernel - 2;
      for (size_t i = 0; i < count; i += kLanes) {
        const size_t own = i + kLanes <= count ? i : count - kLanes;
        sv::Store(runs + own, MaxOf(sv::Load(x + own), sv::Load(x + own + 1)));
      }
      size_t length = 2;
      for (; 2 * length <= p.kernel; length *= 2) {
        count -= length;
        for (size_t i = 0; i < count; i += kLanes) {
          sv::Store(runs + i,
                    MaxOf(sv::Load(runs + i), sv::Load(runs + i + length)));
        }
      }
      const float *second = runs + (p.kernel - length);
      for (size_t i = 0; i < outputs; i += kLanes) {
        const sv::V v = MaxOf(sv::Load(runs + i), sv::Load(second + i));
        if (outputs - i >= kLanes) {
          sv::Store(y + at + i, v);
        } else {
          sv::StoreN(y + at + i, v, static_cast<int>(outputs - i));
        }
      }
    }
  }
}

template <bool kAverage>
void RunStrided(const Along &p) {
  switch (p.stride) {
    case 1:
      if (!kAverage && p.dilation == 1 && p.kernel >= kShortest &&
          p.kernel <= kLongest) {
        return MaxOfRuns(p);
      }
      return RunAlong<kAverage, 1>(p);
    case 2:
      return RunAlong<kAverage, 2>(p);
    default:
      return RunAlong<kAverage, 0>(p);
  }
}

}  // namespace

extern const LineKernels kLineKernels;
const LineKernels kLineKernels = {&RunAcross<false>, &RunAcross<true>,
                                  &RunStrided<false>, &RunStrided<true>};

}  // namespace mace::pool::MACE_ISA
