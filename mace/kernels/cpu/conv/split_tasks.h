// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Divides a convolution into tasks for threads.

#ifndef MACE_KERNELS_CPU_CONV_SPLIT_TASKS_H_
#define MACE_KERNELS_CPU_CONV_SPLIT_TASKS_H_

#include <cstddef>

#include "mace/kernels/cpu/conv/direct.h"

namespace mace::conv {

// Divides rows and columns of a plan, whose blocks are as large as the cache
// allows, into a few tasks per thread (cores differ in speed, and do other work
// too), so that threads of equal speed would finish earliest. Small products
// get as many tasks as the tile size allows.
void SplitForThreads(DirectPlan *p, int threads);

}  // namespace mace::conv

#endif  // MACE_KERNELS_CPU_CONV_SPLIT_TASKS_H_
