// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/norm/row_norm.h"

#include <cstddef>

#include "mace/kernels/cpu/simd.h"

namespace mace::norm::MACE_ISA {

namespace sv = simd::MACE_ISA;

namespace {

// Consecutive vectors go to different sums, which hides the latency of an
// addition.
constexpr size_t kChains = 4;

struct Sums {
  sv::V sum[kChains] = {};
  sv::V squares[kChains] = {};
};

MACE_SIMD_INLINE float Fold(const sv::V (&chains)[kChains]) {
  return sv::ReduceAdd((chains[0] + chains[1]) + (chains[2] + chains[3]));
}

// Sums of x - about and, if kSquares, of the squares of these differences.
template <bool kSquares>
MACE_SIMD_INLINE Sums Add(const float *x, size_t n, float about) {
  const sv::V shift = sv::Set(about);
  Sums sums;
  const auto add = [&](size_t chain, sv::V d) {
    sums.sum[chain] = sums.sum[chain] + d;
    if (kSquares) sums.squares[chain] = sv::Fma(d, d, sums.squares[chain]);
  };
  size_t i = 0;
  for (; i + kChains * sv::kLanes <= n; i += kChains * sv::kLanes) {
    for (size_t k = 0; k < kChains; ++k) {
      add(k, sv::Load(x + i + k * sv::kLanes) - shift);
    }
  }
  for (; i + sv::kLanes <= n; i += sv::kLanes) add(0, sv::Load(x + i) - shift);
  if (i < n) {
    const int left = static_cast<int>(n - i);
    const sv::V d = sv::LoadN(x + i, left) - shift;
    add(0, sv::Select(sv::Iota() < sv::SetInt(left), d, sv::Zero()));
  }
  return sums;
}

// The factor of a row, and its mean in two parts: `missing` is the rounding
// error of `mean`. If elements are much larger than their distances from each
// other, this error can be as large as the distances.
struct Moments {
  float mean = 0;
  float missing = 0;
  float factor = 0;
};

// y = (x - mean - missing) * factor * scale + offset.
template <bool kScale, bool kOffset>
void Apply(const RowNorm &norm, const float *x, const Moments &m, float *y) {
  const sv::V shift = sv::Set(m.mean);
  const sv::V times = sv::Set(m.factor);
  const sv::V plus = sv::Set(-m.missing * m.factor);
  const auto step = [&](size_t i, auto load, auto store) {
    sv::V v = sv::Fma(load(x + i) - shift, times, plus);
    if (kScale && kOffset) {
      v = sv::Fma(v, load(norm.scale + i), load(norm.offset + i));
    } else if (kScale) {
      v = v * load(norm.scale + i);
    } else if (kOffset) {
      v = v + load(norm.offset + i);
    }
    store(y + i, v);
  };
  size_t i = 0;
  for (; i + sv::kLanes <= norm.n; i += sv::kLanes) {
    step(
        i, [](const float *p) { return sv::Load(p); },
        [](float *p, sv::V v) { sv::Store(p, v); });
  }
  if (i < norm.n) {
    const int left = static_cast<int>(norm.n - i);
    step(
        i, [left](const float *p) { return sv::LoadN(p, left); },
        [left](float *p, sv::V v) { sv::StoreN(p, v, left); });
  }
}

void Run(const RowNorm &norm,
         const float *x,
         size_t x_stride,
         float *y,
         size_t y_stride,
         size_t rows) {
  const float share = 1.0f / static_cast<float>(norm.n);
  const auto apply =
      norm.scale == nullptr
          ? (norm.offset == nullptr ? Apply<false, false> : Apply<false, true>)
          : (norm.offset == nullptr ? Apply<true, false> : Apply<true, true>);
  for (size_t row = 0; row < rows; ++row, x += x_stride, y += y_stride) {
    Moments m;
    if (norm.subtract_mean) {
      const Sums sums = Add<false>(x, norm.n, 0.0f);
      m.mean = Fold(sums.sum) * share;
    }
    const Sums sums = Add<true>(x, norm.n, m.mean);
    float variance = Fold(sums.squares) * share;
    if (norm.subtract_mean) {
      m.missing = Fold(sums.sum) * share;
      variance -= m.missing * m.missing;
    }
    m.factor = 1.0f / __builtin_sqrtf(variance + norm.epsilon);
    apply(norm, x, m, y);
  }
}

}  // namespace

extern const RowKernels kRowKernels = {Run};

}  // namespace mace::norm::MACE_ISA
