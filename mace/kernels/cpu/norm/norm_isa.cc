// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>

#include "mace/kernels/cpu/norm/norm.h"
#include "mace/kernels/cpu/simd.h"

namespace mace::norm::MACE_ISA {

namespace sv = simd::MACE_ISA;

namespace {

// Calls step(c, load, store) for every vector of columns; load(p) and store(p,
// v) skip columns that do not exist.
template <typename Step>
MACE_SIMD_INLINE void ForColumns(size_t columns, Step step) {
  size_t c = 0;
  for (; c + sv::kLanes <= columns; c += sv::kLanes) {
    step(
        c, [](const float *p) { return sv::Load(p); },
        [](float *p, sv::V v) { sv::Store(p, v); });
  }
  if (c < columns) {
    const int left = static_cast<int>(columns - c);
    step(
        c, [left](const float *p) { return sv::LoadN(p, left); },
        [left](float *p, sv::V v) { sv::StoreN(p, v, left); });
  }
}

// Rows are added to several chains in turn, which hides the latency of an
// addition.
constexpr size_t kChains = 4;

template <typename Load, typename Take>
MACE_SIMD_INLINE sv::V SumRows(
    const float *x, size_t stride, size_t rows, Load load, Take take) {
  sv::V sum[kChains] = {};
  size_t r = 0;
  for (; r + kChains <= rows; r += kChains) {
    for (size_t k = 0; k < kChains; ++k) {
      sum[k] = take(sum[k], load(x + (r + k) * stride));
    }
  }
  for (; r < rows; ++r) sum[0] = take(sum[0], load(x + r * stride));
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

void Moments(const float *x,
             size_t stride,
             size_t rows,
             size_t columns,
             float *mean,
             float *distances) {
  const float share = 1.0f / static_cast<float>(rows);
  ForColumns(columns, [=](size_t c, auto load, auto store) {
    const sv::V about = SumRows(x + c, stride, rows, load,
                                [](sv::V sum, sv::V v) { return sum + v; }) *
                        share;
    // The sum of large numbers was rounded; the remainders are small numbers.
    const sv::V missing =
        SumRows(x + c, stride, rows, load,
                [about](sv::V sum, sv::V v) { return sum + (v - about); }) *
        share;
    store(mean + c, about + missing);
    const sv::V middle = about + missing;
    store(distances + c,
          SumRows(x + c, stride, rows, load, [middle](sv::V sum, sv::V v) {
            const sv::V d = v - middle;
            return sv::Fma(d, d, sum);
          }));
  });
}

void Merge(float *moments,
           size_t blocks,
           size_t block_rows,
           size_t last_rows,
           size_t columns) {
  const float full = static_cast<float>(block_rows);
  const float last = static_cast<float>(last_rows);
  const float share =
      1.0f / static_cast<float>((blocks - 1) * block_rows + last_rows);
  ForColumns(columns, [=](size_t c, auto load, auto store) {
    float *at = moments + c;
    const sv::V first = load(at);
    // Calls fold(sum, mean minus the first mean, distances, rows) for all
    // blocks.
    const auto over_blocks = [=](auto fold) {
      sv::V sum = sv::Zero();
      for (size_t b = 0; b < blocks; ++b) {
        const float *block = at + b * 2 * columns;
        sum = fold(sum, load(block) - first, load(block + columns),
                   sv::Set(b + 1 < blocks ? full : last));
      }
      return sum;
    };
    const sv::V apart =
        over_blocks([](sv::V sum, sv::V d, sv::V /*distances*/, sv::V rows) {
          return sv::Fma(d, rows, sum);
        }) *
        share;
    const sv::V distances =
        over_blocks([apart](sv::V sum, sv::V d, sv::V inside, sv::V rows) {
          const sv::V off = d - apart;
          return sv::Fma(off * off, rows, sum + inside);
        });
    store(at, first + apart);
    store(at + columns, distances);
  });
}

void Apply(const float *x,
           size_t x_stride,
           const float *mean,
           const float *factor,
           const float *offset,
           float *y,
           size_t y_stride,
           size_t rows,
           size_t columns) {
  for (size_t r = 0; r < rows; ++r) {
    const float *from = x + r * x_stride;
    float *to = y + r * y_stride;
    ForColumns(columns, [=](size_t c, auto load, auto store) {
      store(to + c, sv::Fma(load(from + c) - load(mean + c), load(factor + c),
                            load(offset + c)));
    });
  }
}

}  // namespace

extern const Kernels kKernels = {Moments, Merge, Apply};

}  // namespace mace::norm::MACE_ISA
