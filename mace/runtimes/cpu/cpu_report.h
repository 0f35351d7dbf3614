// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Times, checks and explanations of the CPU's operators, for tools.

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

// Reports the time that an operator took.
void ReportTime(const PlannedNode &node,
                const std::vector<PlannedTensor> &tensors,
                DeviceType device,
                const TimeSpan &span,
                const RunTrace &trace);

// The same for the operators of a chain. The time is divided among them in
// proportion to `nanos`; see RunChain.
void ReportTimes(const BandChain &chain,
                 const std::vector<int64_t> &nanos,
                 const CpuPlan &plan,
                 DeviceType device,
                 const TimeSpan &span,
                 const RunTrace &trace);

// MACE_RUNTIME_ERROR if a tensor has NaN or infinity.
MaceStatus CheckImport(const Tensor &input);
MaceStatus CheckOutputs(const PlannedNode &node,
                        const std::vector<PlannedTensor> &tensors);

// One note for each operator, in the order of execution.
std::vector<OperatorNote> ExplainPlan(const CpuPlan &plan,
                                      const ArenaLayout &layout);

}  // namespace mace

#endif  // MACE_RUNTIMES_CPU_CPU_REPORT_H_
