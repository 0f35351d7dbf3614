// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/reduce/reduce.h"

#include "mace/kernels/cpu/vector_math.h"

namespace mace::reduce::MACE_ISA {

namespace sv = simd::MACE_ISA;

namespace {

constexpr size_t kStretch = 128;

struct SumStep {
  MACE_SIMD_INLINE sv::V Take(sv::V acc, sv::V v) { return acc + v; }
  MACE_SIMD_INLINE sv::V Merge(sv::V a, sv::V b) { return a + b; }
};
struct SumSquareStep {
  MACE_SIMD_INLINE sv::V Take(sv::V acc, sv::V v) { return sv::Fma(v, v, acc); }
  MACE_SIMD_INLINE sv::V Merge(sv::V a, sv::V b) { return a + b; }
};
struct ProductStep {
  MACE_SIMD_INLINE sv::V Take(sv::V acc, sv::V v) { return acc * v; }
  MACE_SIMD_INLINE sv::V Merge(sv::V a, sv::V b) { return a * b; }
};
struct MaxStep {
  MACE_SIMD_INLINE sv::V Take(sv::V acc, sv::V v) {
    return sv::Select(sv::IsNan(v), v, sv::Max(acc, v));
  }
  MACE_SIMD_INLINE sv::V Merge(sv::V a, sv::V b) { return Take(a, b); }
};
struct MinStep {
  MACE_SIMD_INLINE sv::V Take(sv::V acc, sv::V v) {
    return sv::Select(sv::IsNan(v), v, sv::Min(acc, v));
  }
  MACE_SIMD_INLINE sv::V Merge(sv::V a, sv::V b) { return Take(a, b); }
};

// Folds `rows` rows of neighbouring vectors of columns into acc: several chains
// hide the latency of an addition, and rows are read as they lie.
template <typename Step, int kVectors>
MACE_SIMD_INLINE void FoldColumns(
    const float *x, size_t stride, size_t rows, float identity, float *acc) {
  sv::V total[kVectors];
  for (int v = 0; v < kVectors; ++v) total[v] = sv::Load(acc + v * sv::kLanes);
  for (size_t r = 0; r < rows;) {
    const size_t end = rows - r < kStretch ? rows : r + kStretch;
    sv::V part[kVectors];
    for (int v = 0; v < kVectors; ++v) part[v] = sv::Set(identity);
#pragma clang loop unroll(disable)
    for (; r < end; ++r) {
      const float *p = x + r * stride;
      for (int v = 0; v < kVectors; ++v) {
        part[v] = Step::Take(part[v], sv::Load(p + v * sv::kLanes));
      }
    }
    for (int v = 0; v < kVectors; ++v) {
      total[v] = Step::Merge(total[v], part[v]);
    }
  }
  for (int v = 0; v < kVectors; ++v) sv::Store(acc + v * sv::kLanes, total[v]);
}

// The same of fewer columns than a vector has.
template <typename Step>
MACE_SIMD_INLINE void FoldLastColumns(const float *x,
                                      size_t stride,
                                      size_t rows,
                                      int left,
                                      float identity,
                                      float *acc) {
  sv::V total = sv::LoadN(acc, left);
  for (size_t r = 0; r < rows;) {
    const size_t end = rows - r < kStretch ? rows : r + kStretch;
    sv::V part = sv::Set(identity);
#pragma clang loop unroll(disable)
    for (; r < end; ++r)
      part = Step::Take(part, sv::LoadN(x + r * stride, left));
    total = Step::Merge(total, part);
  }
  sv::StoreN(acc, total, left);
}

template <typename Step>
void FoldRows(const float *x,
              size_t stride,
              size_t rows,
              size_t columns,
              float identity,
              float *acc) {
  constexpr int kBlock = 4;
  size_t c = 0;
  for (; c + kBlock * sv::kLanes <= columns; c += kBlock * sv::kLanes) {
    FoldColumns<Step, kBlock>(x + c, stride, rows, identity, acc + c);
  }
  for (; c + sv::kLanes <= columns; c += sv::kLanes) {
    FoldColumns<Step, 1>(x + c, stride, rows, identity, acc + c);
  }
  if (c < columns) {
    FoldLastColumns<Step>(x + c, stride, rows, static_cast<int>(columns - c),
                          identity, acc + c);
  }
}

// Lanes fold their own stretches; at the end lanes are folded one by one, in
// order, which is the same for every split of the work.
template <typename Step>
void FoldRow(const float *x, size_t n, float identity, float *acc) {
  constexpr int kChains = 4;
  constexpr size_t kStep = kChains * sv::kLanes;
  sv::V total = sv::Set(identity);
  size_t i = 0;
  while (i + kStep <= n) {
    sv::V part[kChains];
    for (int k = 0; k < kChains; ++k) part[k] = sv::Set(identity);
    for (size_t s = 0; s < kStretch && i + kStep <= n; ++s, i += kStep) {
      for (int k = 0; k < kChains; ++k) {
        part[k] = Step::Take(part[k], sv::Load(x + i + k * sv::kLanes));
      }
    }
    for (int k = 0; k < kChains; ++k) total = Step::Merge(total, part[k]);
  }
  sv::V rest = sv::Set(identity);
  for (; i + sv::kLanes <= n; i += sv::kLanes) {
    rest = Step::Take(rest, sv::Load(x + i));
  }
  if (i < n) {
    const int left = static_cast<int>(n - i);
    const sv::V taken = Step::Take(rest, sv::LoadN(x + i, left));
    rest = sv::Select(sv::Iota() < sv::SetInt(left), taken, rest);
  }
  total = Step::Merge(total, rest);
  sv::V sum = sv::Set(acc[0]);
  for (int lane = 0; lane < sv::kLanes; ++lane) {
    sum = Step::Merge(sum, sv::Set(total[lane]));
  }
  acc[0] = sum[0];
}

void Rows(Fold fold,
          const float *x,
          size_t stride,
          size_t rows,
          size_t columns,
          float *acc) {
  switch (fold) {
    case Fold::kSum:
      return FoldRows<SumStep>(x, stride, rows, columns, 0.0f, acc);
    case Fold::kMax:
      return FoldRows<MaxStep>(x, stride, rows, columns, -__builtin_inff(),
                               acc);
    case Fold::kMin:
      return FoldRows<MinStep>(x, stride, rows, columns, __builtin_inff(), acc);
    case Fold::kProduct:
      return FoldRows<ProductStep>(x, stride, rows, columns, 1.0f, acc);
    case Fold::kSumSquare:
      return FoldRows<SumSquareStep>(x, stride, rows, columns, 0.0f, acc);
  }
}

void Row(Fold fold, const float *x, size_t n, float *acc) {
  switch (fold) {
    case Fold::kSum:
      return FoldRow<SumStep>(x, n, 0.0f, acc);
    case Fold::kMax:
      return FoldRow<MaxStep>(x, n, -__builtin_inff(), acc);
    case Fold::kMin:
      return FoldRow<MinStep>(x, n, __builtin_inff(), acc);
    case Fold::kProduct:
      return FoldRow<ProductStep>(x, n, 1.0f, acc);
    case Fold::kSumSquare:
      return FoldRow<SumSquareStep>(x, n, 0.0f, acc);
  }
}

// Numbers as integers of the same order: the extreme wanted is the largest, -0
// counts as 0 and any NaN is above all. None is within 2 of INT32_MIN.
MACE_SIMD_INLINE sv::VI Key(sv::V x, sv::V factor) {
  const sv::V v = x * factor + 0.0f;
  const sv::VI bits = sv::AsInt(v);
  const sv::VI key = bits ^ ((bits >> 31) & INT32_MAX);
  return sv::SelectInt(sv::IsNan(v), sv::SetInt(INT32_MAX), key);
}
// What Key multiplies by.
MACE_SIMD_INLINE sv::V FactorOf(Wanted wanted) {
  return sv::Set(wanted.smallest ? -1.0f : 1.0f);
}

// What lanes must exceed to be more extreme than those so far, and where these
// were. Of equal elements the last counts where the bar is one lower.
struct Extremes {
  sv::VI bar;
  sv::VI index;
};

MACE_SIMD_INLINE int32_t TieOf(Wanted wanted) { return wanted.last ? 1 : 0; }

// Takes the key at `place` of each lane in where it is more extreme.
MACE_SIMD_INLINE void Consider(sv::VI key,
                               sv::VI place,
                               int32_t tie,
                               Extremes *e) {
  const sv::VI better = key > e->bar;
  e->bar = sv::SelectInt(better, key - tie, e->bar);
  e->index = sv::SelectInt(better, place, e->index);
}

// The place of the most extreme lane.
MACE_SIMD_INLINE int32_t MostExtreme(Wanted wanted, const Extremes &e) {
  const sv::VI is_best = e.bar == __builtin_reduce_max(e.bar);
  if (wanted.last) {
    return __builtin_reduce_max(
        sv::SelectInt(is_best, e.index, sv::SetInt(INT32_MIN)));
  }
  return __builtin_reduce_min(
      sv::SelectInt(is_best, e.index, sv::SetInt(INT32_MAX)));
}

template <typename Load>
MACE_SIMD_INLINE sv::VI ArgColumn(Wanted wanted, size_t rows, Load load) {
  const sv::V factor = FactorOf(wanted);
  const int32_t tie = TieOf(wanted);
  Extremes e = {Key(load(0), factor) - tie, sv::VI{}};
  for (size_t r = 1; r < rows; ++r) {
    Consider(Key(load(r), factor), sv::SetInt(static_cast<int32_t>(r)), tie,
             &e);
  }
  return e.index;
}

void ArgRows(Wanted wanted,
             const float *x,
             size_t stride,
             size_t rows,
             size_t columns,
             int32_t *index) {
  size_t c = 0;
  for (; c + sv::kLanes <= columns; c += sv::kLanes) {
    sv::StoreInt(index + c, ArgColumn(wanted, rows, [&](size_t r) {
                   return sv::Load(x + r * stride + c);
                 }));
  }
  if (c == columns) return;
  const int left = static_cast<int>(columns - c);
  const sv::VI found = ArgColumn(wanted, rows, [&](size_t r) {
    return sv::LoadN(x + r * stride + c, left);
  });
  for (int i = 0; i < left; ++i) index[c + static_cast<size_t>(i)] = found[i];
}

int32_t ArgRow(Wanted wanted, const float *x, size_t n) {
  const sv::V factor = FactorOf(wanted);
  const int32_t tie = TieOf(wanted);
  Extremes e;
  if (n < sv::kLanes) {
    const int count = static_cast<int>(n);
    e.bar = sv::SelectInt(sv::Iota() < sv::SetInt(count),
                          Key(sv::LoadN(x, count), factor) - tie,
                          sv::SetInt(INT32_MIN));
    e.index = sv::Iota();
    return MostExtreme(wanted, e);
  }
  e = {Key(sv::Load(x), factor) - tie, sv::Iota()};
  for (size_t i = sv::kLanes; i < n; i += sv::kLanes) {
    // Elements that come twice at the end come with the same place.
    if (i + sv::kLanes > n) i = n - sv::kLanes;
    Consider(Key(sv::Load(x + i), factor), sv::Iota() + static_cast<int32_t>(i),
             tie, &e);
  }
  return MostExtreme(wanted, e);
}

}  // namespace

extern const Kernels kKernels = {Rows, Row, ArgRows, ArgRow};

}  // namespace mace::reduce::MACE_ISA
