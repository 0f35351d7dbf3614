// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// How the scratch of a task of a convolution is divided.

#ifndef MACE_KERNELS_CPU_GEMM_CONV_SCRATCH_H_
#define MACE_KERNELS_CPU_GEMM_CONV_SCRATCH_H_

#include <cstddef>

#include "mace/kernels/cpu/gemm/conv_gemm.h"

namespace mace::gemm {

// Where the parts begin, in bytes.
struct Scratch {
  size_t pointers;
  size_t zeros;
  size_t edges;
  size_t packed;
  size_t widened;  // weights; or sums, where these do not rest in the output
  size_t end;
};
Scratch LayOutScratch(const ConvPlan &plan);

// The same for one row of 16 bits: it, the results and the residual as floats.
struct VectorScratch {
  size_t y;
  size_t residual;
  size_t end;
};
VectorScratch LayOutVector(const ConvPlan &plan);

// Bytes of the numbers that the kernels read.
size_t ElementBytes(const ConvPlan &plan);

// Whether every sum is finished when it first leaves the registers.
bool FitsOneStretch(const ConvPlan &plan);

}  // namespace mace::gemm

#endif  // MACE_KERNELS_CPU_GEMM_CONV_SCRATCH_H_
