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
  int32_t zero;

  __attribute__((always_inline)) sv::VI At(size_t i, size_t count) const {
    const sv::VI q = scalar ? sv::SetQuantized(*from, mask)
                            : sv::LoadQuantized(from + i, count, mask);
    return q - zero;
  }
};

template <QuantizedMode kMode>
MACE_SIMD_INLINE void RunRow(const QuantizedParams &p,
                             const Operand &a,
                             const Operand &b,
                             size_t columns,
                             uint8_t *y) {
  const sv::Requantizer to = sv::MakeRequantizer(p);
  for (size_t i = 0; i < columns; i += sv::kLanes) {
    const size_t left = columns - i;
    const size_t count = left < sv::kLanes ? left : sv::kLanes;
    const sv::VI u = a.At(i, count);
    const sv::VI v = b.At(i, count);
    const sv::VI sum =
        kMode == QuantizedMode::kSum ? u * p.a_factor + v * p.b_factor : u * v;
    sv::StoreQuantized(y + i, sv::Requantize(to, sum, sv::Set(p.scale)), count,
                       p.y_mask);
  }
}

void Run(const QuantizedParams &p,
         const Rows &rows,
         const uint8_t *a,
         const uint8_t *b,
         uint8_t *y) {
  for (size_t r = 0; r < rows.rows; ++r) {
    const Operand u = {a, rows.a_scalar, p.a_mask, p.a_zero};
    const Operand v = {b, rows.b_scalar, p.b_mask, p.b_zero};
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
