// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Pointers from the rows of a product into the image of a convolution.

#ifndef MACE_KERNELS_CPU_CONV_IMAGE_ROWS_H_
#define MACE_KERNELS_CPU_CONV_IMAGE_ROWS_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/conv/direct.h"

namespace mace::conv {

// Rows [row_begin, row_begin + rows) of a plan.
struct RowsTask {
  const void *input;     // first channel of the group
  size_t element_bytes;  // of the input
  ptrdiff_t row_begin;
  ptrdiff_t rows;
  const void *zeros;  // plan.depth of them, or of another padding
  uint16_t padding;   // two of their bytes (Args::padding)
  void *edges;        // rows * taps * depth, with Taps::kRow alone
  const void **pointers;
};

// Writes a padding (Args::padding) to `bytes` bytes; to an even number of them,
// if it is no byte twice.
void FillPadding(void *to, size_t bytes, uint16_t padding);

// Fills pointers[tap * rows + row]. Pointers outside the image point to zeros;
// a row of pixels that is partly outside is copied to `edges`.
void PointAtRows(const DirectPlan &plan, const RowsTask &task);

}  // namespace mace::conv

#endif  // MACE_KERNELS_CPU_CONV_IMAGE_ROWS_H_
