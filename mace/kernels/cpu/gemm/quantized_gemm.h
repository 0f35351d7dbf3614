// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The arithmetic "quantized" (gemm.h): products of 8-bit integers that end in 8
// bits.
//
//   S[m, n] = bias[n] + sum over t, k of A(t, m)[k] * W[n, t, k]
//   C[m, n] = clamp(round(float(S) * scale[n]) + zero, low, high)
//
// S is exact in int32, modulo 2^32; float(S) and round are to the nearest, ties
// to even. These are the same bits on every instruction set.
//
// A is read in place, by one pointer per (tap, row), as Block says. Its
// elements are uint8 on x86 and int8 on ARM (RowsUnsigned): another zero point
// makes one the other. The zero point of A is in the bias: minus zero times the
// sum of the weights of the column. So what is outside of an image must point
// to rows of the zero point.
//
// W are panels kI8Fours: [ceil(N / 16)][taps][ceil(depth / 4)][16][4] of int8,
// zero beyond the columns. The last four elements end with the last one of the
// depth; the weights of those that the fours before them have are 0
// (PlaceInFours). A depth below 4 is one four, zero beyond the depth. C are of
// the signedness of A.

#ifndef MACE_KERNELS_CPU_GEMM_QUANTIZED_GEMM_H_
#define MACE_KERNELS_CPU_GEMM_QUANTIZED_GEMM_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/gemm/gemm.h"

namespace mace::gemm {

// Whether rows and results are of uint8, otherwise of int8.
#if defined(__x86_64__) || defined(__i386__)
inline constexpr bool kRowsUnsigned = true;
#else
inline constexpr bool kRowsUnsigned = false;
#endif

// Where the fours of a tap have the weight of element k.
inline size_t PlaceInFours(size_t k, size_t depth) {
  const size_t whole = depth / 4 * 4;
  return k < whole || depth < 4 ? k : whole + k + 4 - depth;
}

// Per column of the whole product, for whole panels.
struct Requantization {
  const int32_t *bias = nullptr;
  const float *scale = nullptr;
  int32_t zero = 0;  // of the results
  int32_t low = 0;   // within the type of the results
  int32_t high = 0;
  // Of all weights, or less. Without -128, products may be faster.
  int32_t least_weight = INT8_MIN;
  // No |float(S) * scale| reaches 2^30, whatever A is.
  bool bounded = false;
};

}  // namespace mace::gemm

#endif  // MACE_KERNELS_CPU_GEMM_QUANTIZED_GEMM_H_
