// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Normalises each row separately:
//
//   y = (x - mean) / sqrt(variance + epsilon) * scale + offset
//
// with the mean and the variance of the row, or, without the mean,
//
//   y = x / sqrt(mean of x^2 + epsilon) * scale + offset
//
// A row is read three times, usually from L1. The variance is computed from the
// distances to the mean; the rounding error of the mean is computed in the same
// pass and corrected. The result is therefore accurate even if the elements of
// a row are far from 0 and close to each other.

#ifndef MACE_KERNELS_CPU_NORM_ROW_NORM_H_
#define MACE_KERNELS_CPU_NORM_ROW_NORM_H_

#include <cstddef>

#include "mace/kernels/cpu/isa.h"

namespace mace::norm {

struct RowNorm {
  const float *scale = nullptr;   // [n]; null: 1
  const float *offset = nullptr;  // [n]; null: 0
  size_t n = 0;                   // elements of a row, at least 1
  float epsilon = 0;
  bool subtract_mean = true;
};

struct RowKernels {
  // Rows begin every x_stride and y_stride elements. y may be x.
  void (*run)(const RowNorm &norm,
              const float *x,
              size_t x_stride,
              float *y,
              size_t y_stride,
              size_t rows);
};

// Never null for an ISA other than CpuIsa::kNone.
const RowKernels *RowKernelsFor(CpuIsa isa);

}  // namespace mace::norm

#endif  // MACE_KERNELS_CPU_NORM_ROW_NORM_H_
