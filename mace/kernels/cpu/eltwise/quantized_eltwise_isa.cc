// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/eltwise/integer_rows.h"
#include "mace/kernels/cpu/eltwise/quantized_eltwise.h"
#include "mace/kernels/cpu/simd.h"
#include "mace/kernels/cpu/simd_quantized.h"

namespace mace::eltwise::MACE_ISA {
namespace {
namespace sv = simd::MACE_ISA;

MACE_SIMD_INLINE sv::VDotBytes Load(const Operand<uint8_t> &operand,
                                    uint8_t mask,
                                    size_t i,
                                    size_t count) {
  return operand.scalar
             ? sv::VDotBytes{} + static_cast<uint8_t>(*operand.from ^ mask)
             : sv::LoadElements(operand.from + i, count, mask);
}

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

struct QuantizedRows {
  using Element = uint8_t;
  using Params = QuantizedParams;

  explicit QuantizedRows(const Params &params) : p(params) {}

  template <QuantizedMode kMode>
  __attribute__((always_inline)) void Run(const Operand<uint8_t> &a,
                                          const Operand<uint8_t> &b,
                                          size_t columns,
                                          uint8_t *y) const {
    const sv::Requantizer to = sv::MakeRequantizer(p);
    const auto step = [&](size_t i,
                          size_t count) __attribute__((always_inline)) {
      const sv::VDotBytes bytes = Combine<kMode>(
          p, to, Load(a, p.a_mask, i, count), Load(b, p.b_mask, i, count));
      sv::StoreElements(y + i, bytes, count, p.y_mask);
    };
    size_t i = 0;
    for (; i + sv::kDotColumns <= columns; i += sv::kDotColumns) {
      step(i, sv::kDotColumns);
    }
    if (i < columns) step(i, columns - i);
  }

  // A copy, which results cannot overwrite.
  const Params p;
};

}  // namespace

extern const QuantizedKernels kQuantizedKernels;
const QuantizedKernels kQuantizedKernels = {&RunMode<QuantizedRows>};

}  // namespace mace::eltwise::MACE_ISA
