// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Sums and products of two operands of int16, the larger and the smaller one:
//
//   S = (a - a_zero) * a_factor + (b - b_zero) * b_factor      kSum
//   S = max((a - a_zero) * a_factor, (b - b_zero) * b_factor)  kMax
//   S = min((a - a_zero) * a_factor, (b - b_zero) * b_factor)  kMin
//   S = (a - a_zero) * (b - b_zero)                            kProduct
//   y = clamp(round(S * scale) + zero, low, high)
//
// Factors are integers below 2^32, so that S is exact in float64; round is to
// the nearest, ties to even. These are the same bits on every instruction set.

#ifndef MACE_KERNELS_CPU_ELTWISE_INT16_ELTWISE_H_
#define MACE_KERNELS_CPU_ELTWISE_INT16_ELTWISE_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/eltwise/eltwise.h"
#include "mace/kernels/cpu/eltwise/quantized_eltwise.h"
#include "mace/kernels/cpu/isa.h"

namespace mace::eltwise {

struct Int16Params {
  QuantizedMode mode = QuantizedMode::kSum;
  int32_t a_zero = 0;
  int32_t b_zero = 0;
  double a_factor = 0.0;
  double b_factor = 0.0;
  double scale = 0.0;
  int32_t zero = 0;
  int32_t low = 0;
  int32_t high = 0;
};

// y may equal an operand of its shape.
using Int16Function = void (*)(const Int16Params &params,
                               const Rows &rows,
                               const int16_t *a,
                               const int16_t *b,
                               int16_t *y);
struct Int16Kernels {
  Int16Function run;
};
// Never null for an ISA other than CpuIsa::kNone.
const Int16Kernels *Int16KernelsFor(CpuIsa isa);

}  // namespace mace::eltwise

#endif  // MACE_KERNELS_CPU_ELTWISE_INT16_ELTWISE_H_
