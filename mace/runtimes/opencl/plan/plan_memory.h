// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Where the tensors of a plan are: buffers share one block of memory. So do
// images, if the device can; otherwise they are used again by others of their
// type.

#ifndef MACE_RUNTIMES_OPENCL_PLAN_PLAN_MEMORY_H_
#define MACE_RUNTIMES_OPENCL_PLAN_PLAN_MEMORY_H_

#include "mace/core/base/status.h"
#include "mace/runtimes/opencl/plan/opencl_plan.h"

namespace mace {

// Call it when the spans of all tensors are known. A launch whose residual
// nobody reads later writes its output there, and is told so.
MaceStatus PlanMemoryOf(const ImageViews &views, OpenclPlan *plan);

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_PLAN_PLAN_MEMORY_H_
