// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/softmax/softmax.h"

#include "mace/kernels/cpu/vector_math.h"

#define MACE_UNROLL _Pragma("clang loop unroll(full)")

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
    const int left = static_cast<int>(n % sv::kLanes);
    best = sv::Max(best, FirstOr(sv::LoadN(x + i, left), left, x[0]));
  }
  return sv::ReduceMax(best);
}

// scale * (x - max). The rounding of scale * max, if scale is not 1, is a
// factor that all exponentials of a row have.
struct Shift {
  sv::V scale;
  sv::V shift;
};
MACE_SIMD_INLINE Shift ShiftOf(float scale, float max) {
  return {sv::Set(scale), sv::Set(-scale * max)};
}
MACE_SIMD_INLINE sv::V Shifted(sv::V x, const Shift &s) {
  return sv::Fma(x, s.scale, s.shift);
}

// Stores the exponentials if y is not null; returns their sum.
float ExpSum(const float *x, float *y, size_t n, const Shift &shift) {
  sv::V sum = sv::Zero();
  size_t i = 0;
  for (; i + sv::kLanes <= n; i += sv::kLanes) {
    const sv::V e = sv::ExpNonPositive(Shifted(sv::Load(x + i), shift));
    if (y != nullptr) sv::Store(y + i, e);
    sum = sum + e;
  }
  if (i < n) {
    const int left = static_cast<int>(n % sv::kLanes);
    const sv::V e = sv::ExpNonPositive(Shifted(sv::LoadN(x + i, left), shift));
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
    const int left = static_cast<int>(n % sv::kLanes);
    sv::StoreN(y + i, f(sv::LoadN(x + i, left)), left);
  }
}

void LongRows(const float *x,
              float *y,
              size_t rows,
              size_t n,
              const RowOptions &options) {
  for (size_t row = 0; row < rows; ++row, x += n, y += n) {
    const Shift shift = ShiftOf(options.scale, RowMax(x, n));
    if (options.log) {
      const sv::V sum = sv::Set(ExpSum(x, nullptr, n, shift));
      const sv::V log_sum = sv::Log(sum);
      Map(x, y, n, [=](sv::V v) { return Shifted(v, shift) - log_sum; });
    } else {
      const sv::V scale = sv::Set(1.0f / ExpSum(x, y, n, shift));
      Map(y, y, n, [=](sv::V v) { return v * scale; });
    }
  }
}

// Rows of up to kShortVectors vectors stay in registers, of which AVX-512 has
// 32 and AVX2 16. With vectors of 4 elements, few rows are so short.
constexpr int kShortVectors = sv::kLanes >= 16 ? 8 : sv::kLanes >= 8 ? 4 : 0;

// The sum or maximum of all vectors, in pairs.
template <int kVectors, typename F>
MACE_SIMD_INLINE sv::V FoldAll(const sv::V (&v)[kVectors], F f) {
  if constexpr (kVectors == 1) {
    return v[0];
  } else {
    constexpr int kHalf = (kVectors + 1) / 2;
    sv::V half[kHalf];
    MACE_UNROLL for (int k = 0; k < kVectors / 2; ++k) {
      half[k] = f(v[2 * k], v[2 * k + 1]);
    }
    if constexpr (kVectors % 2 == 1) half[kHalf - 1] = v[kVectors - 1];
    return FoldAll(half, f);
  }
}

// Rows of at least kLanes and more than (kVectors - 1) * kLanes elements. The
// last vector is the last kLanes elements of the row and overlaps the one
// before: a store of part of a vector would delay the load of the next row,
// because processors compare their addresses as if they were whole. The maximum
// of the next row, whose latency is long, is found while a row is computed.
template <int kVectors>
void RowsOf(const float *x,
            float *y,
            size_t rows,
            size_t n,
            const RowOptions &options) {
  constexpr int kLast = kVectors - 1;
  const auto at = [n](int k) {
    return k < kLast ? static_cast<size_t>(k * sv::kLanes) : n - sv::kLanes;
  };
  const auto max_of = [at](const float *row) {
    sv::V v[kVectors];
    MACE_UNROLL for (int k = 0; k < kVectors; ++k) v[k] = sv::Load(row + at(k));
    return sv::ReduceMax(
        FoldAll(v, [](sv::V a, sv::V b) { return sv::Max(a, b); }));
  };
  const sv::VI is_new =
      sv::Iota() >= sv::SetInt(kVectors * sv::kLanes - static_cast<int>(n));
  float next_max = rows > 0 ? max_of(x) : 0.0f;
  for (size_t row = 0; row < rows; ++row, x += n, y += n) {
    const Shift shift = ShiftOf(options.scale, next_max);
    sv::V v[kVectors];
    MACE_UNROLL for (int k = 0; k < kVectors; ++k) v[k] = sv::Load(x + at(k));
    if (row + 1 < rows) next_max = max_of(x + n);
    sv::V e[kVectors];
    MACE_UNROLL for (int k = 0; k < kVectors; ++k) {
      v[k] = Shifted(v[k], shift);
      e[k] = sv::ExpNonPositive(v[k]);
    }
    const sv::V last = e[kLast];
    e[kLast] = sv::Select(is_new, last, sv::Zero());
    const float sum =
        sv::ReduceAdd(FoldAll(e, [](sv::V a, sv::V b) { return a + b; }));
    e[kLast] = last;
    if (options.log) {
      const sv::V log_sum = sv::Log(sv::Set(sum));
      MACE_UNROLL for (int k = 0; k < kVectors; ++k) e[k] = v[k] - log_sum;
    } else {
      const sv::V scale = sv::Set(1.0f / sum);
      MACE_UNROLL for (int k = 0; k < kVectors; ++k) e[k] = e[k] * scale;
    }
    MACE_UNROLL for (int k = 0; k < kVectors; ++k) sv::Store(y + at(k), e[k]);
  }
}

// Rows of more than (kVectors - 1) * kLanes elements; returns false where they
// are not short.
template <int kVectors = 2>
bool ShortRows(const float *x,
               float *y,
               size_t rows,
               size_t n,
               const RowOptions &options) {
  if constexpr (kVectors <= kShortVectors) {
    if (n > kVectors * sv::kLanes) {
      return ShortRows<kVectors + 1>(x, y, rows, n, options);
    }
    RowsOf<kVectors>(x, y, rows, n, options);
    return true;
  }
  return false;
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
      const sv::V e =
          sv::ExpNonPositive(Get<kFull>(x + i * stride, left) - max);
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

void NarrowRows(const float *x,
                float *y,
                size_t rows,
                size_t n,
                const RowOptions &options) {
  float turned[kNarrow * sv::kLanes] = {};
  for (size_t row = 0; row < rows; row += sv::kLanes) {
    const size_t left = rows - row;
    const size_t count = left < sv::kLanes ? left : sv::kLanes;
    for (size_t r = 0; r < count; ++r) {
      for (size_t i = 0; i < n; ++i) {
        turned[i * sv::kLanes + r] = options.scale * x[(row + r) * n + i];
      }
    }
    ColumnVector<true>(turned, turned, n, sv::kLanes, sv::kLanes, options.log);
    for (size_t r = 0; r < count; ++r) {
      for (size_t i = 0; i < n; ++i) {
        y[(row + r) * n + i] = turned[i * sv::kLanes + r];
      }
    }
  }
}

void Rows(const float *x,
          float *y,
          size_t rows,
          size_t n,
          const RowOptions &options) {
  if (n <= kNarrow) return NarrowRows(x, y, rows, n, options);
  if (n > sv::kLanes && ShortRows(x, y, rows, n, options)) return;
  LongRows(x, y, rows, n, options);
}

// The lanes of v that belong to the same column, combined: lane l to column
// l % columns.
template <typename F>
MACE_SIMD_INLINE sv::V FoldColumns(sv::V v, size_t columns, F f) {
  alignas(64) float lanes[sv::kLanes];
  sv::Store(lanes, v);
  for (size_t c = 0; c < columns; ++c) {
    float all = lanes[c];
    for (size_t l = c + columns; l < sv::kLanes; l += columns) {
      all = f(all, lanes[l]);
    }
    for (size_t l = c; l < sv::kLanes; l += columns) lanes[l] = all;
  }
  return sv::Load(lanes);
}

// All columns of a dense matrix with so few that several of its rows are one
// vector; kLanes is a multiple of `columns`. Stores of one row each, parts of
// vectors, would delay the loads of the next one as in ShortRows.
[[maybe_unused]] void DenseColumns(
    const float *x, float *y, size_t n, size_t columns, bool log) {
  const size_t count = n * columns;
  const size_t whole = count / sv::kLanes * sv::kLanes;
  const int left = static_cast<int>(count - whole);
  sv::V max = sv::Set(-__builtin_inff());
  for (size_t i = 0; i < whole; i += sv::kLanes) {
    max = sv::Max(max, sv::Load(x + i));
  }
  if (left > 0) {
    max = sv::Max(max,
                  FirstOr(sv::LoadN(x + whole, left), left, -__builtin_inff()));
  }
  max = FoldColumns(max, columns, [](float a, float b) {
    // A NaN may be lost here, as in RowMax.
    return a > b ? a : b;
  });
  sv::V sum = sv::Zero();
  for (size_t i = 0; i < whole;) {
    const size_t end =
        whole - i < kStretch * sv::kLanes ? whole : i + kStretch * sv::kLanes;
    sv::V part = sv::Zero();
    for (; i < end; i += sv::kLanes) {
      const sv::V e = sv::ExpNonPositive(sv::Load(x + i) - max);
      part = part + e;
      if (!log) sv::Store(y + i, e);
    }
    sum = sum + part;
  }
  if (left > 0) {
    const sv::V e = sv::ExpNonPositive(sv::LoadN(x + whole, left) - max);
    sum = sum + FirstOr(e, left, 0.0f);
    if (!log) sv::StoreN(y + whole, e, left);
  }
  sum = FoldColumns(sum, columns, [](float a, float b) { return a + b; });
  if (log) {
    const sv::V log_sum = sv::Log(sum);
    Map(x, y, count, [=](sv::V v) { return v - max - log_sum; });
  } else {
    const sv::V scale = 1.0f / sum;
    Map(y, y, count, [=](sv::V v) { return v * scale; });
  }
}

void Columns(const float *x,
             float *y,
             size_t n,
             size_t stride,
             size_t columns,
             bool log) {
  if constexpr (kShortVectors > 0) {
    if (stride == columns && columns < sv::kLanes &&
        sv::kLanes % columns == 0) {
      return DenseColumns(x, y, n, columns, log);
    }
  }
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
