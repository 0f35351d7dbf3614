// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_RUNTIMES_OPENCL_TUNE_MODEL_TUNING_H_
#define MACE_RUNTIMES_OPENCL_TUNE_MODEL_TUNING_H_

#include <vector>

#include "mace/runtimes/opencl/plan/opencl_plan.h"
#include "mace/runtimes/opencl/run/gpu_partition.h"

namespace mace {

// Measures the launches of a partition, with memory of their own, on the queue
// that measures times, and stores the best values of their choices. Takes the
// time that the session has left for it (GpuSession::tuning_seconds). What
// cannot be tuned stays as it was guessed. `border`: the storage of inputs and
// outputs.
void TuneIfAsked(ShapedPartition *partition,
                 const std::vector<BorderStorage> &border);

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_TUNE_MODEL_TUNING_H_
