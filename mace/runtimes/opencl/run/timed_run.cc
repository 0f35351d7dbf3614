// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/run/timed_run.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "mace/core/base/logging.h"
#include "mace/runtimes/opencl/plan/operator_stats.h"

namespace mace {
namespace {

int64_t MicrosBetween(cl_ulong from, cl_ulong to) {
  return static_cast<int64_t>(to - from) / 1000;
}

}  // namespace

MaceStatus RunTimed(BoundPlan *bound, size_t segment, const RunTrace &trace) {
  const OpenclPlan &plan = bound->plan();
  const GpuQueues &queues = *bound->partition()->queues();
  const size_t begin = plan.begin[segment];
  const size_t end = plan.begin[segment + 1];
  MACE_CL_CHECK("clFinish", "", queues.api().clFinish(queues.queue()));
  const int64_t start_micros =
      std::chrono::duration_cast<std::chrono::microseconds>(
          std::chrono::steady_clock::now() - trace.start)
          .count();
  MACE_ASSIGN_OR_RETURN(const std::vector<KernelTime> times,
                        bound->commands()->RunTimed(segment));
  const Graph &graph = bound->partition()->graph();
  // The operators of each row of the statistics.
  std::vector<std::pair<const std::vector<int> *, size_t>> described;
  for (size_t i = begin; i < end; ++i) {
    const KernelTime &time = times[i - begin];
    const PlannedLaunch &planned = plan.launches[i];
    OperatorStats stats = {};
    stats.device = DeviceType::GPU;
    stats.stats.start_micros =
        start_micros + MicrosBetween(times[0].start, time.start);
    stats.stats.end_micros =
        start_micros + MicrosBetween(times[0].start, time.end);
    stats.stats.duration_nanos = static_cast<int64_t>(time.end - time.start);
    VLOG(2) << "GPU: " << bound->commands()->launch(i).text << ": "
            << static_cast<double>(time.end - time.start) / 1000 << " us";
    if (trace.metadata == nullptr) continue;
    std::vector<OperatorStats> &all = trace.metadata->op_stats;
    // Another launch of the same operators; bands of rows take turns.
    const auto same = std::find_if(
        described.begin(), described.end(),
        [&](const auto &entry) { return *entry.first == planned.nodes; });
    if (same != described.end()) {
      OperatorStats &known = all[same->second];
      known.stats.end_micros = stats.stats.end_micros;
      known.stats.duration_nanos += stats.stats.duration_nanos;
      continue;
    }
    described.emplace_back(&planned.nodes, all.size());
    DescribeOperators(graph, planned.nodes, bound->partition()->shapes(),
                      plan.reports, &stats);
    all.push_back(std::move(stats));
  }
  return MaceStatus();
}

}  // namespace mace
