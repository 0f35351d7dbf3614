// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/eltwise/int16_eltwise.h"
#include "mace/kernels/cpu/eltwise/integer_rows.h"
#include "mace/kernels/cpu/simd.h"
#include "mace/kernels/cpu/simd_int16.h"

namespace mace::eltwise::MACE_ISA {
namespace {
namespace sv = simd::MACE_ISA;

MACE_SIMD_INLINE sv::VD Load(const Operand<int16_t> &operand,
                             int32_t zero,
                             size_t i,
                             size_t count) {
  const sv::VI16 x = operand.scalar ? sv::VI16{} + *operand.from
                                    : sv::LoadInt16N(operand.from + i, count);
  return sv::IntToDouble(sv::WidenInt16(x) - zero);
}

template <QuantizedMode kMode>
MACE_SIMD_INLINE sv::VD Combine(const Int16Params &p, sv::VD a, sv::VD b) {
  if constexpr (kMode == QuantizedMode::kProduct) return a * b;
  a *= p.a_factor;
  b *= p.b_factor;
  if constexpr (kMode == QuantizedMode::kSum) return a + b;
  const bool max = kMode == QuantizedMode::kMax;
  return sv::SelectDouble(a > b, max ? a : b, max ? b : a);
}

struct Int16Rows {
  using Element = int16_t;
  using Params = Int16Params;

  explicit Int16Rows(const Params &params)
      : p(params), to(sv::MakeInt16Results(params)) {}

  template <QuantizedMode kMode>
  __attribute__((always_inline)) void Run(const Operand<int16_t> &a,
                                          const Operand<int16_t> &b,
                                          size_t columns,
                                          int16_t *y) const {
    for (size_t i = 0; i < columns; i += sv::kLanes) {
      const size_t count = columns - i;
      const sv::VD sum = Combine<kMode>(p, Load(a, p.a_zero, i, count),
                                        Load(b, p.b_zero, i, count));
      sv::StoreInt16N(y + i, sv::ToInt16(to, sum * p.scale), count);
    }
  }

  // A copy, which results cannot overwrite.
  const Params p;
  const sv::Int16Results to;
};

}  // namespace

extern const Int16Kernels kInt16Kernels;
const Int16Kernels kInt16Kernels = {&RunMode<Int16Rows>};

}  // namespace mace::eltwise::MACE_ISA
