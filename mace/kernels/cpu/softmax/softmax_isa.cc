// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/softmax/softmax.h"

#include "mace/kernels/cpu/vector_math.h"

namespace mace::softmax::MACE_ISA {

namespace sv = simd::MACE_ISA;

namespace {

// Returns v in lanes below `left`, and `other` in the others.
MACE_SIMD_INLINE sv::V FirstOr(sv::V v, int left, float other) {
  return sv::Select(sv::Iota() < sv::SetInt(left), v, sv::Set(other));
}

// A NaN may be lost here, but exp(NaN - max) is NaN again.
float RowMax(const float *x, size_t n) {
  // Several chains hide the latency of a maximum.
  constexpr size_t kChains = 4;
  sv::V chains[kChains];
  for (sv::V &chain : chains) chain = sv::Set(-__builtin_inff());
  size_t i = 0;
  for (; i + kChains * sv::kLanes <= n; i += kChains * sv::kLanes) {
    for (size_t k = 0; k < kChains; ++k) {
      chains[k] = sv::Max(chains[k], sv::Load(x + i + k * sv::kLanes));
    }
  }
  sv::V best =
      sv::Max(sv::Max(chains[0], chains[1]), sv::Max(chains[2], chains[3]));
  for (; i + sv::kLanes <= n; i += sv::kLanes) {
    best = sv::Max(best, sv::Load(x + i));
  }
  if (i < n) {
    const int left = static_cast<int>(n - i);
    best = sv::Max(best, FirstOr(sv::LoadN(x + i, left), left, x[0]));
  }
  return sv::ReduceMax(best);
}

// Stores exp(x - max) if y is not null; returns the sum.
float ExpSum(const float *x, float *y, size_t n, float max) {
  const sv::V shift = sv::Set(max);
  sv::V sum = sv::Zero();
  size_t i = 0;
  for (; i + sv::kLanes <= n; i += sv::kLanes) {
    const sv::V e = sv::Exp(sv::Load(x + i) - shift);
    if (y != nullptr) sv::Store(y + i, e);
    sum = sum + e;
  }
  if (i < n) {
    const int left = static_cast<int>(n - i);
    const sv::V e = sv::Exp(sv::LoadN(x + i, left) - shift);
    if (y != nullptr) sv::StoreN(y + i, e, left);
    sum = sum + FirstOr(e, left, 0.0f);
  }
  return sv::ReduceAdd(sum);
}

template <typename F>
MACE_SIMD_INLINE void Map(const float *x, float *y, size_t n, F f) {
  size_t i = 0;
  for (; i + sv::kLanes <= n; i += sv::kLanes) {
    sv::Store(y + i, f(sv::Load(x + i)));
  }
  if (i < n) {
    const int left = static_cast<int>(n - i);
    sv::StoreN(y + i, f(sv::LoadN(x + i, left)), left);
  }
}

void LongRows(const float *x, float *y, size_t rows, size_t n, bool log) {
  for (size_t row = 0; row < rows; ++row, x += n, y += n) {
    const float max = RowMax(x, n);
    if (log) {
      const sv::V sum = sv::Set(ExpSum(x, nullptr, n, max));
      const sv::V log_sum = sv::Log(sum);
      const sv::V shift = sv::Set(max);
      Map(x, y, n, [=](sv::V v) { return v - shift - log_sum; });
    } else {
      const sv::V scale = sv::Set(1.0f / ExpSum(x, y, n, max));
      Map(y, y, n, [=](sv::V v) { return v * scale; });
    }
  }
}

constexpr size_t kStretch = 128;

// One vector of neighbouring columns.
template <bool kFull>
MACE_SIMD_INLINE sv::V Get(const float *p, int left) {
  return kFull ? sv::Load(p) : sv::LoadN(p, left);
}
template <bool kFull>
MACE_SIMD_INLINE void Put(float *p, sv::V v, int left) {
  if (kFull) {
    sv::Store(p, v);
  } else {
    sv::StoreN(p, v, left);
  }
}

template <bool kFull>
MACE_SIMD_INLINE void ColumnVector(
    const float *x, float *y, size_t n, size_t stride, int left, bool log) {
  sv::V max = Get<kFull>(x, left);
  for (size_t i = 1; i < n; ++i) {
    max = sv::Max(max, Get<kFull>(x + i * stride, left));
  }
  sv::V sum = sv::Zero();
  for (size_t i = 0; i < n;) {
    // Sums are computed in blocks, so that the error does not grow with n.
    const size_t end = n - i < kStretch ? n : i + kStretch;
    sv::V part = sv::Zero();
    for (; i < end; ++i) {
      const sv::V e = sv::Exp(Get<kFull>(x + i * stride, left) - max);
      part = part + e;
      if (!log) Put<kFull>(y + i * stride, e, left);
    }
    sum = sum + part;
  }
  if (log) {
    const sv::V log_sum = sv::Log(sum);
    for (size_t i = 0; i < n; ++i) {
      const sv::V v = Get<kFull>(x + i * stride, left);
      Put<kFull>(y + i * stride, v - max - log_sum, left);
    }
    return;
  }
  const sv::V scale = 1.0f / sum;
  for (size_t i = 0; i < n; ++i) {
    Put<kFull>(y + i * stride, Get<kFull>(y + i * stride, left) * scale, left);
  }
}

// For rows much shorter than a vector: kLanes rows at a time are transposed, so
// that each row is a lane. Lanes are independent, so results do not depend on
// which rows are computed together.
constexpr size_t kNarrow = sv::kLanes / 2;

void NarrowRows(const float *x, float *y, size_t rows, size_t n, bool log) {
  float turned[kNarrow * sv::kLanes] = {};
  for (size_t row = 0; row < rows; row += sv::kLanes) {
    const size_t left = rows - row;
    const size_t count = left < sv::kLanes ? left : sv::kLanes;
    for (size_t r = 0; r < count; ++r) {
      for (size_t i = 0; i < n; ++i) {
        turned[i * sv::kLanes + r] = x[(row + r) * n + i];
      }
    }
    ColumnVector<true>(turned, turned, n, sv::kLanes, sv::kLanes, log);
    for (size_t r = 0; r < count; ++r) {
      for (size_t i = 0; i < n; ++i) {
        y[(row + r) * n + i] = turned[i * sv::kLanes + r];
      }
    }
  }
}

void Rows(const float *x, float *y, size_t rows, size_t n, bool log) {
  if (n <= kNarrow) {
    NarrowRows(x, y, rows, n, log);
  } else {
    LongRows(x, y, rows, n, log);
  }
}

void Columns(const float *x,
             float *y,
             size_t n,
             size_t stride,
             size_t columns,
             bool log) {
  size_t c = 0;
  for (; c + sv::kLanes <= columns; c += sv::kLanes) {
    ColumnVector<true>(x + c, y + c, n, stride, sv::kLanes, log);
  }
  if (c < columns) {
    ColumnVector<false>(x + c, y + c, n, stride, static_cast<int>(columns - c),
                        log);
  }
}

}  // namespace

extern const Kernels kKernels = {Rows, Columns};

}  // namespace mace::softmax::MACE_ISA
