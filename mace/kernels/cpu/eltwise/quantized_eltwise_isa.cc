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
  const sv::FourRequantizer to = sv::MakeFourRequantizer(p);
  const sv::V scale = sv::Set(p.scale);
  const int32_t half = p.shift == 0 ? 0 : int32_t{1} << (p.shift - 1);
  const int32_t start = half - p.a_zero * p.a_factor - p.b_zero * p.b_factor;
  for (size_t i = 0; i < columns; i += sv::kDotColumns) {
    const size_t count = columns - i;
    const sv::VDotBytes u = a.At(i, count);
    const sv::VDotBytes v = b.At(i, count);
    sv::VI results[4];
    if constexpr (kMode == QuantizedMode::kSum) {
      sv::SumOfTwo(u, v, p.a_factor, p.b_factor, start, results);
      for (sv::VI &result : results) result = result >> p.shift;
    } else {
      sv::ProductOfTwo(u, v, p.a_zero, p.b_zero, results);
      for (sv::VI &result : results) result = sv::StepsOf(result, scale);
    }
    sv::StoreElements(y + i, sv::PackSteps(to, results), count, p.y_mask);
  }
}

void Run(const QuantizedParams &p,
         const Rows &rows,
         const uint8_t *a,
         const uint8_t *b,
         uint8_t *y) {
  for (size_t r = 0; r < rows.rows; ++r) {
    const Operand u = {a, rows.a_scalar, p.a_mask};
    const Operand v = {b, rows.b_scalar, p.b_mask};
    if (p.mode == QuantizedMode::kSum) {
      RunRow<QuantizedMode::kSum>(p, u, v, rows.columns, y);
    } else {
      RunRow<QuantizedMode::kProduct>(p, u, v, rows.columns, y);
    }
    a += rows.a_row_stride;
    b += rows.b_row_stride;
    y += rows.columns;
  }
}

}  // namespace

extern const QuantizedKernels kQuantizedKernels;
const QuantizedKernels kQuantizedKernels = {&Run};

}  // namespace mace::eltwise::MACE_ISA
