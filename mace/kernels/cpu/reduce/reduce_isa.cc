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

// The most extreme elements so far and where they were, lane by lane. With
// factor -1 the smallest are the largest.
struct Extremes {
  sv::V factor;
  sv::V best;
  sv::VI index;
};

// Takes the element at `place` of each lane in where it is more extreme.
template <bool kLast>
MACE_SIMD_INLINE void Consider(sv::V x, sv::VI place, Extremes *e) {
  const sv::V v = x * e->factor;
  const sv::VI better =
      kLast ? (v >= e->best) | sv::IsNan(v)
            : (v > e->best) | (sv::IsNan(v) & ~sv::IsNan(e->best));
  e->best = sv::Select(better, v, e->best);
  e->index = sv::SelectInt(better, place, e->index);
}

MACE_SIMD_INLINE Extremes Start(Wanted wanted, sv::V x, sv::VI place) {
  const sv::V factor = sv::Set(wanted.smallest ? -1.0f : 1.0f);
  return {factor, x * factor, place};
}

template <bool kLast, typename Load>
MACE_SIMD_INLINE sv::VI ArgColumn(Wanted wanted, size_t rows, Load load) {
  Extremes e = Start(wanted, load(0), sv::VI{});
  for (size_t r = 1; r < rows; ++r) {
    Consider<kLast>(load(r), sv::SetInt(static_cast<int32_t>(r)), &e);
  }
  return e.index;
}

template <bool kLast>
void ArgRowsOf(Wanted wanted,
               const float *x,
               size_t stride,
               size_t rows,
               size_t columns,
               int32_t *index) {
  size_t c = 0;
  for (; c + sv::kLanes <= columns; c += sv::kLanes) {
    sv::StoreInt(index + c, ArgColumn<kLast>(wanted, rows, [&](size_t r) {
                   return sv::Load(x + r * stride + c);
                 }));
  }
  if (c == columns) return;
  const int left = static_cast<int>(columns - c);
  const sv::VI found = ArgColumn<kLast>(wanted, rows, [&](size_t r) {
    return sv::LoadN(x + r * stride + c, left);
  });
  for (int i = 0; i < left; ++i) index[c + static_cast<size_t>(i)] = found[i];
}

void ArgRows(Wanted wanted,
             const float *x,
             size_t stride,
             size_t rows,
             size_t columns,
             int32_t *index) {
  if (wanted.last) {
    ArgRowsOf<true>(wanted, x, stride, rows, columns, index);
  } else {
    ArgRowsOf<false>(wanted, x, stride, rows, columns, index);
  }
}

template <bool kLast>
int32_t ArgRowOf(Wanted wanted, const float *x, size_t n) {
  const float factor = wanted.smallest ? -1.0f : 1.0f;
  float best = x[0] * factor;
  int32_t index = 0;
  // Whether v at `place` goes before what was found. Ties between lanes come in
  // any order.
  const auto consider = [&](float v, int32_t place) {
    const bool v_nan = __builtin_isnan(v);
    const bool best_nan = __builtin_isnan(best);
    const bool equal = v == best || (v_nan && best_nan);
    const bool sooner = kLast ? place > index : place < index;
    if (v > best || (v_nan && !best_nan) || (equal && sooner)) {
      best = v;
      index = place;
    }
  };
  size_t i = 1;
  if (n >= 2 * sv::kLanes) {
    Extremes e = Start(wanted, sv::Load(x), sv::Iota());
    for (i = sv::kLanes; i + sv::kLanes <= n; i += sv::kLanes) {
      Consider<kLast>(sv::Load(x + i), sv::Iota() + static_cast<int32_t>(i),
                      &e);
    }
    for (int lane = 0; lane < sv::kLanes; ++lane) {
      consider(e.best[lane], e.index[lane]);
    }
  }
  for (; i < n; ++i) consider(x[i] * factor, static_cast<int32_t>(i));
  return index;
}

int32_t ArgRow(Wanted wanted, const float *x, size_t n) {
  return wanted.last ? ArgRowOf<true>(wanted, x, n)
                     : ArgRowOf<false>(wanted, x, n);
}

}  // namespace

extern const Kernels kKernels = {Rows, Row, ArgRows, ArgRow};

}  // namespace mace::reduce::MACE_ISA
