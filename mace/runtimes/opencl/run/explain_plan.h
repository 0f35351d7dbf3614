// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_RUNTIMES_OPENCL_RUN_EXPLAIN_PLAN_H_
#define MACE_RUNTIMES_OPENCL_RUN_EXPLAIN_PLAN_H_

#include <vector>

#include "mace/core/graph/device.h"
#include "mace/runtimes/opencl/run/bound_plan.h"

namespace mace {

// What reports say of each operator: its kernels, how it is computed, and how
// its outputs are stored.
std::vector<OperatorNote> ExplainPlan(const BoundPlan &bound);

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_RUN_EXPLAIN_PLAN_H_
