// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/eltwise/quantized_eltwise.h"
#include "mace/kernels/cpu/simd.h"
#include "mace/kernels/cpu/simd_quantized.h"

namespace mace::eltwise::MACE_ISA {
namespace {
namespace sv = simd::MACE_ISA;

// An operand of a row: its elements, or one for all.
struct Operand {
  const uint8_t *from;
  bool scalar;
  uint8_t mask;

  __attribute__((always_inline)) sv::VDotBytes At(size_t i,
                                                  size_t count) const {
    return scalar ? sv::VDotBytes{} + static_cast<uint8_t>(*from ^ mask)
                  : sv::LoadElements(from + i, count, mask);
  }
};

template <QuantizedMode kMode>
MACE_SIMD_INLINE sv::VDotBytes Combine(const QuantizedParams &p,
                                       const sv::Requantizer &to,
                                       sv::VDotBytes u,
                                       sv::VDotBytes v) {
  sv::VI results[4];
  if constexpr (kMode == QuantizedMode::kProduct) {
    const sv::V scale = sv::Set(p.scale);
    sv::ProductOfTwo(u, v, p.a_zero, p.b_zero, results);
    for (sv::VI &result : results) result = sv::StepsOf(result, scale);
  } else if constexpr (kMode == QuantizedMode::kSum) {
    sv::ScaledSumOfTwo(u, v, p, results);
  } else {
    const int32_t half = sv::HalfOf(p.shift);
    sv::VI others[4];
    sv::SumOfTwo(u, v, p.a_factor, 0, half - p.a_zero * p.a_factor, results);
    sv::SumOfTwo(u, v, 0, p.b_factor, half - p.b_zero * p.b_factor, others);
    for (int k = 0; k < 4; ++k) {
      const sv::VI larger = results[k] > others[k];
      const bool max = kMode == QuantizedMode::kMax;
      results[k] = sv::SelectInt(larger, max ? results[k] : others[k],
                                 max ? others[k] : results[k]) >>
                   p.shift;
    }
  }
  return sv::PackSteps(to, results);
}

// `p`: a copy, which results cannot overwrite.
template <QuantizedMode kMode>
MACE_SIMD_INLINE void RunRow(const QuantizedParams p,
                             const Operand &a,
                             const Operand &b,
                             size_t columns,
                             uint8_t *y) {
  const sv::Requantizer to = sv::MakeRequantizer(p);
  const auto step = [&](size_t i, size_t count) __attribute__((always_inline)) {
    const sv::VDotBytes bytes =
        Combine<kMode>(p, to, a.At(i, count), b.At(i, count));
    sv::StoreElements(y + i, bytes, count, p.y_mask);
  };
  size_t i = 0;
  for (; i + sv::kDotColumns <= columns; i += sv::kDotColumns) {
    step(i, sv::kDotColumns);
  }
  if (i < columns) step(i, columns - i);
}

template <QuantizedMode kMode>
void Run(const QuantizedParams &p,
         const Rows &rows,
         const uint8_t *a,
         const uint8_t *b,
         uint8_t *y) {
  for (size_t r = 0; r < rows.rows; ++r) {
    RunRow<kMode>(p, {a, rows.a_scalar, p.a_mask}, {b, rows.b_scalar, p.b_mask},
                  rows.columns, y);
    a += rows.a_row_stride;
    b += rows.b_row_stride;
    y += rows.columns;
  }
}

void RunMode(const QuantizedParams &p,
             const Rows &rows,
             const uint8_t *a,
             const uint8_t *b,
             uint8_t *y) {
  switch (p.mode) {
    case QuantizedMode::kSum:
      return Run<QuantizedMode::kSum>(p, rows, a, b, y);
    case QuantizedMode::kProduct:
      return Run<QuantizedMode::kProduct>(p, rows, a, b, y);
    case QuantizedMode::kMax:
      return Run<QuantizedMode::kMax>(p, rows, a, b, y);
    case QuantizedMode::kMin:
      return Run<QuantizedMode::kMin>(p, rows, a, b, y);
  }
}

}  // namespace

extern const QuantizedKernels kQuantizedKernels;
const QuantizedKernels kQuantizedKernels = {&RunMode};

}  // namespace mace::eltwise::MACE_ISA
