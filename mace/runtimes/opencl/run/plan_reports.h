// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_RUNTIMES_OPENCL_RUN_PLAN_REPORTS_H_
#define MACE_RUNTIMES_OPENCL_RUN_PLAN_REPORTS_H_

#include <cstddef>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/core/graph/device.h"
#include "mace/runtimes/opencl/run/bound_plan.h"

namespace mace {

// Runs a segment with the times of its kernels, by the clock of the GPU, and
// waits. Adds an entry for each operator, or for those that are computed
// together, to `trace.metadata`, which may be null.
MaceStatus RunTimed(BoundPlan *bound, size_t segment, const RunTrace &trace);

// What reports say of each operator: its kernels, how it is computed, and how
// its outputs are stored.
std::vector<OperatorNote> ExplainPlan(const BoundPlan &bound);

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_RUN_PLAN_REPORTS_H_
