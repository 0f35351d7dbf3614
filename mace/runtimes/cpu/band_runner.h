// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_RUNTIMES_CPU_BAND_RUNNER_H_
#define MACE_RUNTIMES_CPU_BAND_RUNNER_H_

#include <cstdint>

#include "mace/core/base/thread_pool.h"
#include "mace/runtimes/cpu/band_chains.h"
#include "mace/runtimes/cpu/cpu_plan.h"

namespace mace {

// Runs the operators of a chain; all its tensors except the links have data.
// `scratch`: chain.thread_bytes for each thread, 64-byte aligned. `nanos`:
// null, or BandChain::kMaxNodes numbers per thread, to which the time of each
// operator is added.
void RunChain(const BandChain &chain,
              CpuPlan *plan,
              void *scratch,
              ThreadPool *pool,
              int64_t *nanos);

}  // namespace mace

#endif  // MACE_RUNTIMES_CPU_BAND_RUNNER_H_
