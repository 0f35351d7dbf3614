// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Pointers from the rows of a product into the image of a convolution.

#ifndef MACE_KERNELS_CPU_GEMM_CONV_ROWS_H_
#define MACE_KERNELS_CPU_GEMM_CONV_ROWS_H_

#include <cstddef>

#include "mace/kernels/cpu/gemm/conv_gemm.h"

namespace mace::gemm {

// Rows [row_begin, row_begin + rows) of a plan. T is float, or uint16_t for
// elements of 16 bits.
template <typename T>
struct RowsTask {
  const T *input;  // first channel of the group
  ptrdiff_t row_begin;
  ptrdiff_t rows;
  const T *zeros;  // plan.depth of them
  T *edges;        // rows * taps * depth, with Taps::kRow alone
  const T **pointers;
};

// Fills pointers[tap * rows + row]. What lies outside the image points at
// zeros; a row of pixels that lies partly outside is copied to `edges`.
template <typename T>
void PointAtRows(const ConvPlan &plan, const RowsTask<T> &task);

}  // namespace mace::gemm

#endif  // MACE_KERNELS_CPU_GEMM_CONV_ROWS_H_
