// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The arithmetic "quantized" (gemm.h): products of 8-bit integers that end in 8
// bits.
//
//   S[m, n] = bias[n] + row_bias[m] + sum over t, k of A(t, m)[k] * W[n, t, k]
//   C[m, n] = clamp(round(float(S) * scale[n]) + zero, low, high)
//
// S is exact in int32, modulo 2^32; float(S) and round are to the nearest, ties
// to even. These are the same bits on every instruction set.
//
// A is read in place, by one pointer per (tap, row), as Block says. Its
// elements are uint8 on x86 and int8 on ARM (kUnsignedBytes in isa.h): another
// zero point makes one the other. The zero point of A is in the bias: minus
// zero times the sum of the weights of the column. So what is outside of an
// image must point to rows of the zero point. If W have a zero point, too, what
// it adds is in the bias and in Block::row_bias, minus zero times the sum of
// the row.
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
#include "mace/kernels/cpu/isa.h"

namespace mace::gemm {

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

// Adjacent panels of W of one tap, from a matrix of 8-bit integers that is
// computed.
struct QuantizedPanels {
  // Element (k, n) is at from[k * depth_stride + n * column_stride]. One of the
  // strides is 1.
  const uint8_t *from = nullptr;
  size_t depth_stride = 0;
  size_t column_stride = 0;
  size_t depth = 0;
  size_t columns = 0;  // of as many panels as are necessary
  uint8_t flip = 0;    // what makes elements int8, by exclusive or
  int8_t *to = nullptr;
  int32_t *sums = nullptr;  // of what is packed, of whole panels; may be null
};

// So many panels together read whole cache lines of rows.
inline constexpr size_t kPackedPanels = 4;

struct QuantizedPacking {
  // Returns the least weight, or less (Requantization::least_weight).
  int32_t (*pack)(const QuantizedPanels &panels);
  // The sums of rows of A that are `stride` apart, as the arithmetic reads
  // them.
  void (*sum_rows)(const uint8_t *from,
                   size_t stride,
                   size_t rows,
                   size_t depth,
                   int32_t *sums);
};

const QuantizedPacking *QuantizedPackingFor(CpuIsa isa);

}  // namespace mace::gemm

#endif  // MACE_KERNELS_CPU_GEMM_QUANTIZED_GEMM_H_
