// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/reduce/reduce.h"

#include "mace/kernels/cpu/vector_math.h"

namespace mace::reduce::MACE_ISA {

namespace sv = simd::MACE_ISA;

namespace {

constexpr size_t kStretch = 128;

struct SumStep {
  static constexpr float kIdentity = Identity(Fold::kSum);
  MACE_SIMD_INLINE sv::V Take(sv::V acc, sv::V v) { return acc + v; }
  MACE_SIMD_INLINE sv::V Merge(sv::V a, sv::V b) { return a + b; }
};
struct SumSquareStep {
  static constexpr float kIdentity = Identity(Fold::kSumSquare);
  MACE_SIMD_INLINE sv::V Take(sv::V acc, sv::V v) { return sv::Fma(v, v, acc); }
  MACE_SIMD_INLINE sv::V Merge(sv::V a, sv::V b) { return a + b; }
};
struct ProductStep {
  static constexpr float kIdentity = Identity(Fold::kProduct);
  MACE_SIMD_INLINE sv::V Take(sv::V acc, sv::V v) { return acc * v; }
  MACE_SIMD_INLINE sv::V Merge(sv::V a, sv::V b) { return a * b; }
};
struct MaxStep {
  static constexpr float kIdentity = Identity(Fold::kMax);
  MACE_SIMD_INLINE sv::V Take(sv::V acc, sv::V v) {
    const sv::V larger = sv::Max(acc, v);
    if constexpr (sv::kMaxKeepsNan) return larger;
    return sv::Select(sv::IsNan(v), v, larger);
  }
  MACE_SIMD_INLINE sv::V Merge(sv::V a, sv::V b) { return Take(a, b); }
};
struct MinStep {
  static constexpr float kIdentity = Identity(Fold::kMin);
  MACE_SIMD_INLINE sv::V Take(sv::V acc, sv::V v) {
    const sv::V smaller = sv::Min(acc, v);
    if constexpr (sv::kMaxKeepsNan) return smaller;
    return sv::Select(sv::IsNan(v), v, smaller);
  }
  MACE_SIMD_INLINE sv::V Merge(sv::V a, sv::V b) { return Take(a, b); }
};

// Folds `rows` rows of adjacent vectors of columns into acc: several chains
// hide the latency of an addition, and rows are read in memory order.
template <typename Step, int kVectors>
MACE_SIMD_INLINE void FoldColumns(const float *x,
                                  size_t stride,
                                  size_t rows,
                                  float *acc) {
  sv::V total[kVectors];
  for (int v = 0; v < kVectors; ++v) total[v] = sv::Load(acc + v * sv::kLanes);
  for (size_t r = 0; r < rows;) {
    const size_t end = rows - r < kStretch ? rows : r + kStretch;
    sv::V part[kVectors];
    for (int v = 0; v < kVectors; ++v) part[v] = sv::Set(Step::kIdentity);
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

// The same for fewer columns than a vector has lanes.
template <typename Step>
MACE_SIMD_INLINE void FoldLastColumns(
    const float *x, size_t stride, size_t rows, int left, float *acc) {
  sv::V total = sv::LoadN(acc, left);
  for (size_t r = 0; r < rows;) {
    const size_t end = rows - r < kStretch ? rows : r + kStretch;
    sv::V part = sv::Set(Step::kIdentity);
#pragma clang loop unroll(disable)
    for (; r < end; ++r)
      part = Step::Take(part, sv::LoadN(x + r * stride, left));
    total = Step::Merge(total, part);
  }
  sv::StoreN(acc, total, left);
}

template <typename Step>
void FoldRows(
    const float *x, size_t stride, size_t rows, size_t columns, float *acc) {
  constexpr int kBlock = 4;
  size_t c = 0;
  for (; c + kBlock * sv::kLanes <= columns; c += kBlock * sv::kLanes) {
    FoldColumns<Step, kBlock>(x + c, stride, rows, acc + c);
  }
  for (; c + sv::kLanes <= columns; c += sv::kLanes) {
    FoldColumns<Step, 1>(x + c, stride, rows, acc + c);
  }
  if (c < columns) {
    FoldLastColumns<Step>(x + c, stride, rows,
                          static_cast<int>(columns % sv::kLanes), acc + c);
  }
}

// Each lane folds its own elements; at the end, the lanes are folded one by
// one, in an order that does not depend on how the work is divided.
template <typename Step>
void FoldRow(const float *x, size_t n, float *acc) {
  constexpr int kChains = 4;
  constexpr size_t kStep = kChains * sv::kLanes;
  sv::V total = sv::Set(Step::kIdentity);
  size_t i = 0;
  while (i + kStep <= n) {
    sv::V part[kChains];
    for (int k = 0; k < kChains; ++k) part[k] = sv::Set(Step::kIdentity);
    for (size_t s = 0; s < kStretch && i + kStep <= n; ++s, i += kStep) {
      for (int k = 0; k < kChains; ++k) {
        part[k] = Step::Take(part[k], sv::Load(x + i + k * sv::kLanes));
      }
    }
    for (int k = 0; k < kChains; ++k) total = Step::Merge(total, part[k]);
  }
  sv::V rest = sv::Set(Step::kIdentity);
  for (; i + sv::kLanes <= n; i += sv::kLanes) {
    rest = Step::Take(rest, sv::Load(x + i));
  }
  if (i < n) {
    const int left = static_cast<int>(n % sv::kLanes);
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

// Calls `with` with an object of the fold's step.
template <typename With>
MACE_SIMD_INLINE void Choose(Fold fold, With with) {
  switch (fold) {
    case Fold::kSum:
      return with(SumStep());
    case Fold::kMax:
      return with(MaxStep());
    case Fold::kMin:
      return with(MinStep());
    case Fold::kProduct:
      return with(ProductStep());
    case Fold::kSumSquare:
      return with(SumSquareStep());
  }
}

void Rows(Fold fold,
          const float *x,
          size_t stride,
          size_t rows,
          size_t columns,
          float *acc) {
  Choose(fold, [=](auto step) __attribute__((always_inline)) {
    FoldRows<decltype(step)>(x, stride, rows, columns, acc);
  });
}

void Row(Fold fold, const float *x, size_t n, float *acc) {
  Choose(fold, [=](auto step) __attribute__((always_inline)) {
    FoldRow<decltype(step)>(x, n, acc);
  });
}

}  // namespace

extern const Kernels kKernels = {Rows, Row};

}  // namespace mace::reduce::MACE_ISA
