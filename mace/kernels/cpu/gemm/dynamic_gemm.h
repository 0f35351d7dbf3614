// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The arithmetic "dynamic" (gemm.h): products of rows that were quantized to 8
// bits during the run, each row with its own scale and zero point, with weights
// of 8 bits. Results are float.
//
//   S[m, n] = sum over k of (A[m, k] - zero[m]) * (W[k, n] - w_zero[n])
//   C[m, n] = act(float(S) * (scale[m] * w_scale[n]) + bias[n] + residual[m,
//   n])
//
// S is exact in int32, modulo 2^32. Every operation on floats is rounded by
// itself, in the order above, never fused: the same bits on every instruction
// set. `act` is the clamp of the epilogue.
//
// Rows, panels and the signedness of rows are those of quantized_gemm.h. A
// depth that is a multiple of 4 makes the panels those of PACKED_N16_FOURS: a
// caller pads its rows, whose padding is multiplied by weights of 0.
//
// Epilogue::bias is not read: Dequantization::bias is for whole panels.

#ifndef MACE_KERNELS_CPU_GEMM_DYNAMIC_GEMM_H_
#define MACE_KERNELS_CPU_GEMM_DYNAMIC_GEMM_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/gemm/gemm.h"

namespace mace::gemm {

struct Dequantization {
  // For each row of the block.
  const float *row_scales = nullptr;
  const int32_t *row_zeros = nullptr;
  // The sums of the elements, without padding; read if column_zeros are.
  const uint32_t *row_sums = nullptr;
  // For each column of the product, for whole panels.
  const float *column_scales = nullptr;
  const float *bias = nullptr;
  const uint32_t *column_sums = nullptr;   // of the weights, minus K * zero
  const uint32_t *column_zeros = nullptr;  // null: all are 0
  // Of all weights, or less. Without -128, products may be faster.
  int32_t least_weight = INT8_MIN;
};

}  // namespace mace::gemm

#endif  // MACE_KERNELS_CPU_GEMM_DYNAMIC_GEMM_H_
