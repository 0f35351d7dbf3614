// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Runs all tasks of a DirectPlan, on a thread pool or on the calling thread.

#ifndef MACE_KERNELS_CPU_CONV_DIRECT_RUN_H_
#define MACE_KERNELS_CPU_CONV_DIRECT_RUN_H_

#include <cstddef>
#include <string>

#include "mace/core/base/thread_pool.h"
#include "mace/kernels/cpu/conv/activation.h"
#include "mace/kernels/cpu/conv/direct.h"

namespace mace::conv {

// Scratch bytes for all threads of a pool; the memory must be 64-byte aligned.
size_t DirectScratchBytes(const DirectPlan &plan, int threads);

// `activation` may be null. This function sets args.staged.
void RunDirect(const DirectPlan &plan,
               const Args &args,
               const OutputActivation *activation,
               ThreadPool *pool,
               void *scratch);

// Requires a plan and scratch memory for one thread.
void RunDirectAlone(const DirectPlan &plan,
                    const Args &args,
                    const OutputActivation *activation,
                    void *scratch);

// The name of the kernel that a plan uses, for reports.
std::string DirectName(const DirectPlan &plan);

}  // namespace mace::conv

#endif  // MACE_KERNELS_CPU_CONV_DIRECT_RUN_H_
