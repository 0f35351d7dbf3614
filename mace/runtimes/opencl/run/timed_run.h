// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_RUNTIMES_OPENCL_RUN_TIMED_RUN_H_
#define MACE_RUNTIMES_OPENCL_RUN_TIMED_RUN_H_

#include <cstddef>

#include "mace/core/base/status.h"
#include "mace/core/graph/device.h"
#include "mace/runtimes/opencl/run/bound_plan.h"

namespace mace {

// Runs a segment with the times of its kernels, by the clock of the GPU, and
// waits. Adds an entry for each operator, or for those that are computed
// together, to `trace.metadata`, which may be null.
MaceStatus RunTimed(BoundPlan *bound, size_t segment, const RunTrace &trace);

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_RUN_TIMED_RUN_H_
