// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Sums and products of two operands of 8 bits, the larger and the smaller one:
//
//   S = (a - a_zero) * a_factor + (b - b_zero) * b_factor      kSum
//   S = max((a - a_zero) * a_factor, (b - b_zero) * b_factor)  kMax
//   S = min((a - a_zero) * a_factor, (b - b_zero) * b_factor)  kMin
//   y = clamp(((S + half) >> shift) + zero, low, high)
//
//   S = (a - a_zero) * (b - b_zero)                            kProduct
//   y = clamp(round(float(S) * scale) + zero, low, high)
//
// S is exact in int32, with factors of 22 bits with their signs; half is
// 2^(shift - 1), or 0 without a shift; round is to the nearest, ties to even.
// These are the same bits on every instruction set.
//
// Elements are uint8 on x86 and int8 on ARM (kUnsignedBytes). The bytes of
// each tensor are combined with its mask (exclusive or), which makes another
// type of it.

#ifndef MACE_KERNELS_CPU_ELTWISE_QUANTIZED_ELTWISE_H_
#define MACE_KERNELS_CPU_ELTWISE_QUANTIZED_ELTWISE_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/eltwise/eltwise.h"
#include "mace/kernels/cpu/isa.h"

namespace mace::eltwise {

enum class QuantizedMode { kSum, kProduct, kMax, kMin };

struct QuantizedParams {
  QuantizedMode mode = QuantizedMode::kSum;
  uint8_t a_mask = 0;
  uint8_t b_mask = 0;
  uint8_t y_mask = 0;
  int32_t a_zero = 0;
  int32_t b_zero = 0;
  int32_t a_factor = 0;
  int32_t b_factor = 0;
  int32_t shift = 0;
  float scale = 0.0f;
  int32_t zero = 0;
  int32_t low = 0;
  int32_t high = 0;
};

// y may equal an operand of its shape.
using QuantizedFunction = void (*)(const QuantizedParams &params,
                                   const Rows &rows,
                                   const uint8_t *a,
                                   const uint8_t *b,
                                   uint8_t *y);
struct QuantizedKernels {
  QuantizedFunction run;
};
const QuantizedKernels *QuantizedKernelsFor(CpuIsa isa);

}  // namespace mace::eltwise

#endif  // MACE_KERNELS_CPU_ELTWISE_QUANTIZED_ELTWISE_H_
