// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Normalisation of columns by their mean and variance over rows.
//
// A few rows at a time are read twice while they are in L1: for their mean, and
// for the squared distances from it. These blocks are then merged relative to
// the mean of the first block. Memory is read only once, there is no
// cancellation as in the mean of squares minus the square of the mean, and
// large means are rounded only once.

#ifndef MACE_KERNELS_CPU_NORM_NORM_H_
#define MACE_KERNELS_CPU_NORM_NORM_H_

#include <cstddef>

#include "mace/kernels/cpu/isa.h"

namespace mace::norm {

struct Kernels {
  // mean[c] of x[r * stride + c] for r < rows, and distances[c], the sum of (x
  // - mean)^2, for c < columns. Requires rows > 0.
  void (*moments)(const float *x,
                  size_t stride,
                  size_t rows,
                  size_t columns,
                  float *mean,
                  float *distances);
  // Merges the moments of all blocks, [blocks][2][columns] with means before
  // distances, into the first block. All blocks have block_rows rows, except
  // the last one, which has last_rows.
  void (*merge)(float *moments,
                size_t blocks,
                size_t block_rows,
                size_t last_rows,
                size_t columns);
  // y = (x - mean[c]) * factor[c] + offset[c]; y may be x.
  void (*apply)(const float *x,
                size_t x_stride,
                const float *mean,
                const float *factor,
                const float *offset,
                float *y,
                size_t y_stride,
                size_t rows,
                size_t columns);
};

// Never null for an ISA other than CpuIsa::kNone.
const Kernels *KernelsFor(CpuIsa isa);

}  // namespace mace::norm

#endif  // MACE_KERNELS_CPU_NORM_NORM_H_
