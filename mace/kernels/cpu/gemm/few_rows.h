// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Products of a few rows with a matrix B that is used in place.
//
//   C[m, n] = sum over k of A[m, k] * B[k, n]
//
// Every number of B is multiplied by only `rows` other numbers, so packing B
// first would take as long as the product itself. Instead B is read in memory
// order, and the sums stay in L1. If B is [depth][columns], a few rows of B are
// added to rows of C at a time; if B is [columns][depth], each result is a dot
// product.
//
// Order of summation: if B is not transposed, k ascending in one chain per
// output, with the same bits as gemm.h; if B is transposed, one chain per lane,
// then the sum of the lanes. The order does not depend on how columns are
// divided.
// Aliasing: C must not overlap A or B.

#ifndef MACE_KERNELS_CPU_GEMM_FEW_ROWS_H_
#define MACE_KERNELS_CPU_GEMM_FEW_ROWS_H_

#include <cstddef>

#include "mace/kernels/cpu/isa.h"

namespace mace::gemm {

// Up to this many rows, this method is faster than packing; measured on Zen 5
// with AVX-512.
inline constexpr size_t kFewRows = 16;
inline constexpr size_t kFewRowsTransposed = 4;

struct FewRows {
  const float *a = nullptr;  // [rows][depth]
  size_t rows = 0;
  size_t depth = 0;
  const float *b = nullptr;
  size_t b_stride = 0;  // floats from one row of B to the next in memory
  size_t column_begin = 0;
  size_t column_end = 0;
  float *c = nullptr;  // row 0, column 0
  size_t c_stride = 0;
};

struct FewRowsKernels {
  void (*run)(const FewRows &product);             // B: [depth][columns]
  void (*run_transposed)(const FewRows &product);  // B: [columns][depth]
};

// Never null for an ISA other than CpuIsa::kNone.
const FewRowsKernels *FewRowsKernelsFor(CpuIsa isa);

}  // namespace mace::gemm

#endif  // MACE_KERNELS_CPU_GEMM_FEW_ROWS_H_
