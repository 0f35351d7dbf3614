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
MACE_SIMD_INLINE void RunRow(const QuantizedParams &p,
                             const Operand &a,
                             const Operand &b,
                             size_t columns,
                             uint8_t *y) {
  const sv::Requantizer to = sv::MakeRequantizer(p);
  const sv::V scale = sv::Set(p.scale);
  const int32_t half = p.shift == 0 ? 0 : int32_t{1} << (p.shift - 1);
  const int32_t a_start = -p.a_zero * p.a_factor;
  const int32_t b_start = -p.b_zero * p.b_factor;
  for (size_t i = 0; i < columns; i += sv::kDotColumns) {
    const size_t count = columns - i;
    const sv::VDotBytes u = a.At(i, count);
    const sv::VDotBytes v = b.At(i, count);
    sv::VI results[4];
    if constexpr (kMode == QuantizedMode::kProduct) {
      sv::ProductOfTwo(u, v, p.a_zero, p.b_zero, results);
      for (sv::VI &result : results) result = sv::StepsOf(result, scale);
    } else if constexpr (kMode == QuantizedMode::kSum) {
      sv::SumOfTwo(u, v, p.a_factor, p.b_factor, half + a_start + b_start,
                   results);
      for (sv::VI &result : results) result = result >> p.shift;
    } else {
      sv::VI others[4];
      sv::SumOfTwo(u, v, p.a_factor, 0, half + a_start, results);
      sv::SumOfTwo(u, v, 0, p.b_factor, half + b_start, others);
      for (int k = 0; k < 4; ++k) {
        const sv::VI larger = results[k] > others[k];
        const bool max = kMode == QuantizedMode::kMax;
        results[k] = sv::SelectInt(larger, max ? results[k] : others[k],
                                   max ? others[k] : results[k]) >>
                     p.shift;
      }
    }
    sv::StoreElements(y + i, sv::PackSteps(to, results), count, p.y_mask);
  }
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
