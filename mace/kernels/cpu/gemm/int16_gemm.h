// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The arithmetic "int16" (gemm.h): products of int16 and weights of int8 that
// end in int16.
//
//   S[m, n] = bias[n] + sum over t, k of A(t, m)[k] * W[n, t, k]
//   C[m, n] = clamp(round(S * scale[n]) + zero, low, high)
//
// S is exact. The product with the scale is of float64, and round is to the
// nearest, ties to even: the same bits on every instruction set.
//
// A is read in place, as in quantized_gemm.h, and W are the same panels
// kI8Fours. The zero point of A is in the bias: minus zero times the sum of the
// weights of the column. What is outside of an image must point to rows of the
// zero point.
//
// Kernels add up to 511 products in int32 before they add that sum to one of
// float64, which has 53 bits: exact for any depth of a tensor that fits memory.

#ifndef MACE_KERNELS_CPU_GEMM_INT16_GEMM_H_
#define MACE_KERNELS_CPU_GEMM_INT16_GEMM_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/gemm/gemm.h"

namespace mace::gemm {

// Per column of the whole product, for whole panels.
struct Requantization16 {
  const double *bias = nullptr;  // integers
  const double *scale = nullptr;
  int32_t zero = 0;  // of the results
  int32_t low = 0;   // within int16
  int32_t high = 0;
};

}  // namespace mace::gemm

#endif  // MACE_KERNELS_CPU_GEMM_INT16_GEMM_H_
