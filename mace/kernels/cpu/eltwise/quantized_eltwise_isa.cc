// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/eltwise/quantized_eltwise.h"
#include "mace/kernels/cpu/simd.h"

namespace mace::eltwise::MACE_ISA {
namespace {
namespace sv = simd::MACE_ISA;

#if defined(__SSE4_1__)
using Bytes = sv::VU8;
#else
using Bytes = sv::VI8;
#endif

// An operand of a row: its elements, or one for all.
struct Operand {
  const uint8_t *from;
  bool scalar;
  uint8_t mask;
  int32_t zero;

  __attribute__((always_inline)) sv::VI At(size_t i, size_t count) const {
    sv::VU8 bytes{};
    if (scalar) {
      bytes += *from;
    } else if (count == sv::kLanes) {
      __builtin_memcpy(&bytes, from + i, sv::kLanes);
    } else {
      __builtin_memcpy(&bytes, from + i, count);
    }
    bytes ^= mask;
    return __builtin_convertvector(reinterpret_cast<Bytes>(bytes), sv::VI) -
           zero;
  }
};

template <QuantizedMode kMode>
MACE_SIMD_INLINE void RunRow(const QuantizedParams &p,
                             const Operand &a,
                             const Operand &b,
                             size_t columns,
                             uint8_t *y) {
  // Before the zero point is added, exactly.
  const sv::V low = sv::Set(static_cast<float>(p.low - p.zero));
  const sv::V high = sv::Set(static_cast<float>(p.high - p.zero));
  for (size_t i = 0; i < columns; i += sv::kLanes) {
    const size_t left = columns - i;
    const size_t count = left < sv::kLanes ? left : sv::kLanes;
    const sv::VI u = a.At(i, count);
    const sv::VI v = b.At(i, count);
    const sv::VI sum =
        kMode == QuantizedMode::kSum ? u * p.a_factor + v * p.b_factor : u * v;
    const sv::V steps = sv::ToFloat(sum) * sv::Set(p.scale);
    const sv::VI rounded = sv::ToInt(sv::Round(sv::Clamp(steps, low, high)));
    sv::VU8 bytes = reinterpret_cast<sv::VU8>(
        __builtin_convertvector(rounded + p.zero, Bytes));
    bytes ^= p.y_mask;
    if (count == sv::kLanes) {
      __builtin_memcpy(y + i, &bytes, sv::kLanes);
    } else {
      __builtin_memcpy(y + i, &bytes, count);
    }
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
