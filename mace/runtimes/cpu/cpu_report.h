// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// What tools ask about the CPU's operators and their runs.

#ifndef MACE_RUNTIMES_CPU_CPU_REPORT_H_
#define MACE_RUNTIMES_CPU_CPU_REPORT_H_

#include <cstdint>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/core/graph/device.h"
#include "mace/runtimes/cpu/arena_layout.h"
#include "mace/runtimes/cpu/band_chains.h"
#include "mace/runtimes/cpu/cpu_plan.h"

namespace mace {

// Since the start of the run.
struct TimeSpan {
  int64_t start_nanos;
  int64_t end_nanos;
};

// Reports that an operator took that long.
void ReportTime(const PlannedNode &node,
                const std::vector<PlannedTensor> &tensors,
                DeviceType device,
                const TimeSpan &span,
                const RunTrace &trace);

// The same for the operators of a chain, which share the time by `nanos`; see
// RunChain.
void ReportTimes(const BandChain &chain,
                 const std::vector<int64_t> &nanos,
                 const CpuPlan &plan,
                 DeviceType device,
                 const TimeSpan &span,
                 const RunTrace &trace);

// MACE_RUNTIME_ERROR if it holds NaN or infinity.
MaceStatus CheckImport(const Tensor &input);
MaceStatus CheckOutputs(const PlannedNode &node,
                        const std::vector<PlannedTensor> &tensors);

// One note for each operator, in the order of running.
std::vector<OperatorNote> ExplainPlan(const CpuPlan &plan,
                                      const ArenaLayout &layout);

}  // namespace mace

#endif  // MACE_RUNTIMES_CPU_CPU_REPORT_H_
