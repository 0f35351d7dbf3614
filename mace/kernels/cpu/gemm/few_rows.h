// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Products of a few rows with a matrix B that is used where it lies.
//
//   C[m, n] = sum over k of A[m, k] * B[k, n]
//
// Every number of B meets only `rows` others, so that to pack B first would
// take as long as the product. B is streamed in the order of memory instead,
// and sums wait in L1: for B as [depth][columns] a few of its rows are added to
// rows of C at a time; for B as [columns][depth] a result is a dot product.
//
// Order of summation: with plain B, k ascending in one chain per output, which
// are the bits of gemm.h; with transposed B, a chain per lane, then the lanes.
// Neither depends on how columns are split.
// Aliasing: C must not overlap A or B.

#ifndef MACE_KERNELS_CPU_GEMM_FEW_ROWS_H_
#define MACE_KERNELS_CPU_GEMM_FEW_ROWS_H_

#include <cstddef>

#include "mace/kernels/cpu/isa.h"

namespace mace::gemm {

// At most so many rows are faster this way than by packing, measured on Zen 5
// with AVX-512.
inline constexpr size_t kFewRows = 16;
inline constexpr size_t kFewRowsTransposed = 4;

struct FewRows {
  const float *a = nullptr;  // [rows][depth]
  size_t rows = 0;
  size_t depth = 0;
  const float *b = nullptr;
  size_t b_stride = 0;  // floats from row to row of B as it lies
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
