// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The layout of the scratch memory of a task of a direct convolution.

#ifndef MACE_KERNELS_CPU_CONV_DIRECT_SCRATCH_H_
#define MACE_KERNELS_CPU_CONV_DIRECT_SCRATCH_H_

#include <cstddef>

#include "mace/kernels/cpu/conv/direct.h"

namespace mace::conv {

// The offsets of the parts, in bytes.
struct Scratch {
  size_t pointers;
  size_t runs;  // of taps
  size_t zeros;
  size_t edges;
  size_t packed;
  size_t widened;  // weights; or sums, if the output does not hold them
  size_t end;
};
Scratch LayOutScratch(const DirectPlan &plan);

// The same for a single row with 16-bit results: the row, the results and the
// residual as floats.
struct VectorScratch {
  size_t y;
  size_t residual;
  size_t end;
};
VectorScratch LayOutVector(const DirectPlan &plan);

// The type of the numbers that row pointers point to.
Element RowElement(const DirectPlan &plan);

// Whether every sum is complete when it is first stored.
bool FitsOneKBlock(const DirectPlan &plan);

}  // namespace mace::conv

#endif  // MACE_KERNELS_CPU_CONV_DIRECT_SCRATCH_H_
