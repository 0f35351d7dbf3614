// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/arg/arg.h"

#include "mace/kernels/cpu/vector_math.h"

namespace mace::arg::MACE_ISA {

namespace sv = simd::MACE_ISA;

namespace {

// Converts numbers to integers with the same order: the extreme that is
// searched is the largest, -0 counts as 0, and NaN is above all numbers. No
// integer is within 2 of INT32_MIN.
MACE_SIMD_INLINE sv::VI Key(sv::V x, sv::V factor) {
  const sv::V v = x * factor + 0.0f;
  const sv::VI bits = sv::AsInt(v);
  const sv::VI key = bits ^ ((bits >> 31) & INT32_MAX);
  return sv::SelectInt(sv::IsNan(v), sv::SetInt(INT32_MAX), key);
}

// The factor for Key.
MACE_SIMD_INLINE sv::V FactorOf(Wanted wanted) {
  return sv::Set(wanted.smallest ? -1.0f : 1.0f);
}

// The value that each lane must exceed to replace the extreme found so far, and
// the place of that extreme. To return the last of equal elements, the value is
// one lower.
struct Extremes {
  sv::VI bar;
  sv::VI index;
};

MACE_SIMD_INLINE int32_t TieOf(Wanted wanted) { return wanted.last ? 1 : 0; }

// Replaces the extreme of each lane in which the key at `place` is more
// extreme.
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
    // The last elements may be read twice, with the same place.
    if (i + sv::kLanes > n) i = n - sv::kLanes;
    Consider(Key(sv::Load(x + i), factor), sv::Iota() + static_cast<int32_t>(i),
             tie, &e);
  }
  return MostExtreme(wanted, e);
}

}  // namespace

extern const Kernels kKernels = {ArgRows, ArgRow};

}  // namespace mace::arg::MACE_ISA
