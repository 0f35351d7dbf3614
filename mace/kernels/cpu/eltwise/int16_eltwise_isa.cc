// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/eltwise/int16_eltwise.h"
#include "mace/kernels/cpu/simd.h"
#include "mace/kernels/cpu/simd_int16.h"

namespace mace::eltwise::MACE_ISA {
namespace {
namespace sv = simd::MACE_ISA;

// An operand of a row: its elements, or one for all.
struct Operand {
  const int16_t *from;
  bool scalar;
  int32_t zero;

  __attribute__((always_inline)) sv::VD At(size_t i, size_t count) const {
    const sv::VI16 x =
        scalar ? sv::VI16{} + *from : sv::LoadInt16N(from + i, count);
    return sv::IntToDouble(sv::WidenInt16(x) - zero);
  }
};

template <QuantizedMode kMode>
MACE_SIMD_INLINE sv::VD Combine(const Int16Params &p, sv::VD a, sv::VD b) {
  if constexpr (kMode == QuantizedMode::kProduct) return a * b;
  a *= p.a_factor;
  b *= p.b_factor;
  if constexpr (kMode == QuantizedMode::kSum) return a + b;
  const bool max = kMode == QuantizedMode::kMax;
  return sv::SelectDouble(a > b, max ? a : b, max ? b : a);
}

template <QuantizedMode kMode>
void Run(const Int16Params &p,
         const Rows &rows,
         const int16_t *a,
         const int16_t *b,
         int16_t *y) {
  const sv::Int16Results to = sv::MakeInt16Results(p);
  for (size_t r = 0; r < rows.rows; ++r) {
    const Operand u = {a, rows.a_scalar, p.a_zero};
    const Operand v = {b, rows.b_scalar, p.b_zero};
    for (size_t i = 0; i < rows.columns; i += sv::kLanes) {
      const size_t count = rows.columns - i;
      const sv::VD sum = Combine<kMode>(p, u.At(i, count), v.At(i, count));
      sv::StoreInt16N(y + i, sv::ToInt16(to, sum * p.scale), count);
    }
    a += rows.a_row_stride;
    b += rows.b_row_stride;
    y += rows.columns;
  }
}

void RunMode(const Int16Params &p,
             const Rows &rows,
             const int16_t *a,
             const int16_t *b,
             int16_t *y) {
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

extern const Int16Kernels kInt16Kernels;
const Int16Kernels kInt16Kernels = {&RunMode};

}  // namespace mace::eltwise::MACE_ISA
