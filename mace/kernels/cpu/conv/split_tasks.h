// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// How a convolution is cut into tasks for threads.

#ifndef MACE_KERNELS_CPU_CONV_SPLIT_TASKS_H_
#define MACE_KERNELS_CPU_CONV_SPLIT_TASKS_H_

#include <cstddef>

#include "mace/kernels/cpu/conv/direct.h"

namespace mace::conv {

// Cuts rows and columns of a plan, whose blocks are as large as the cache
// allows, into a few tasks per thread (cores are not equally fast, and work on
// other things too), such that equal threads would be done earliest. Small
// products get as many as tiles allow.
void SplitForThreads(DirectPlan *p, int threads);

}  // namespace mace::conv

#endif  // MACE_KERNELS_CPU_CONV_SPLIT_TASKS_H_
