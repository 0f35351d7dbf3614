// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// How a convolution is cut into tasks for threads.

#ifndef MACE_KERNELS_CPU_GEMM_SPLIT_TASKS_H_
#define MACE_KERNELS_CPU_GEMM_SPLIT_TASKS_H_

#include <cstddef>

#include "mace/kernels/cpu/gemm/conv_gemm.h"

namespace mace::gemm {

// Rows of the tallest tile of the kernels that a plan uses.
size_t RowTile(const ConvPlan &p);

// Cuts rows and columns of a plan, whose blocks are as large as the cache
// allows, into a few tasks per thread (cores are not equally fast, and work on
// other things too), such that equal threads would be done earliest. Small
// products get as many as tiles allow.
void SplitForThreads(ConvPlan *p, int threads);

}  // namespace mace::gemm

#endif  // MACE_KERNELS_CPU_GEMM_SPLIT_TASKS_H_
