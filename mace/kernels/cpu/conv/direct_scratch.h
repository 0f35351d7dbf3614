// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// How the scratch of a task of a convolution is divided.

#ifndef MACE_KERNELS_CPU_CONV_DIRECT_SCRATCH_H_
#define MACE_KERNELS_CPU_CONV_DIRECT_SCRATCH_H_

#include <cstddef>

#include "mace/kernels/cpu/conv/direct.h"

namespace mace::conv {

// Where the parts begin, in bytes.
struct Scratch {
  size_t pointers;
  size_t runs;  // of taps
  size_t zeros;
  size_t edges;
  size_t packed;
  size_t widened;  // weights; or sums, where these do not rest in the output
  size_t end;
};
Scratch LayOutScratch(const DirectPlan &plan);

// The same for one row whose results are of 16 bits: it, the results and the
// residual as floats.
struct VectorScratch {
  size_t y;
  size_t residual;
  size_t end;
};
VectorScratch LayOutVector(const DirectPlan &plan);

// Of the numbers that row pointers lead to.
Element RowElement(const DirectPlan &plan);

// Whether every sum is finished when it first leaves the registers.
bool FitsOneKBlock(const DirectPlan &plan);

}  // namespace mace::conv

#endif  // MACE_KERNELS_CPU_CONV_DIRECT_SCRATCH_H_
