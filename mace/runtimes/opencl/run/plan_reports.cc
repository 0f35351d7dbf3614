// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/run/plan_reports.h"

#include <algorithm>
#include <chrono>
#include <string>
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

namespace {

// Joins the parts of a note by ", ".
void AddPart(const std::string &part, std::string *text) {
  if (!text->empty() && !part.empty()) *text += ", ";
  *text += part;
}

// Sets the kernels, and how they are launched.
void DescribeLaunches(const BoundPlan &bound, OperatorNote *note) {
  const std::vector<GraphNode> &nodes = bound.partition()->graph().nodes();
  size_t launches = 0;
  size_t parts = 0;
  bool in_bands = false;
  for (size_t i = 0; i < bound.plan().launches.size(); ++i) {
    const PlannedLaunch &planned = bound.plan().launches[i];
    if (std::find(planned.nodes.begin(), planned.nodes.end(), note->node) ==
        planned.nodes.end()) {
      continue;
    }
    ++launches;
    parts += bound.commands().launch(i).parts.size();
    if (note->node != planned.nodes.back()) {
      note->remark = MakeString("computed with '",
                                nodes[planned.nodes.back()].def->name, "'");
    }
    in_bands = planned.group != planned.nodes;
    if (in_bands && launches > 1) continue;
    if (!note->kernel.empty()) note->kernel += " + ";
    note->kernel += planned.launch.kernel();
  }
  if (launches == 0) AddPart("without a launch", &note->remark);
  if (in_bands) {
    AddPart(MakeString("in ", launches, " bands of rows"), &note->remark);
  }
  if (parts > launches) {
    AddPart(MakeString("in ", parts, " parts"), &note->remark);
  }
}

std::string OutputText(const BoundPlan &bound, const GraphNode &node) {
  std::string text;
  for (int id : node.outputs) {
    const int index = id < 0 ? -1 : bound.plan().tensor_of[id];
    if (index < 0) continue;
    const GpuStorage storage = bound.plan().tensors[index].storage;
    AddPart(MakeString(DataTypeName(StorageElement(storage)),
                       bound.partition()->tensor(id).shape.ToString(), " in ",
                       StorageText(storage)),
            &text);
  }
  return text;
}

}  // namespace

std::vector<OperatorNote> ExplainPlan(const BoundPlan &bound) {
  const ShapedPartition &partition = *bound.partition();
  const PartitionSpec &spec = partition.spec();
  std::vector<OperatorNote> notes;
  std::string demotion = partition.session()->verdict().Demotion();
  for (size_t segment = 0; segment < spec.segments.size(); ++segment) {
    for (int node : spec.segments[segment]) {
      const GraphNode &entry =
          partition.graph().nodes()[static_cast<size_t>(node)];
      OperatorNote note;
      note.name = entry.def->name;
      note.type = entry.def->type;
      note.node = node;
      note.segment = segment;
      DescribeLaunches(bound, &note);
      AddPart(demotion, &note.remark);
      demotion.clear();
      if (node == spec.segments[segment].front()) {
        AddPart(bound.commands().Remark(segment), &note.remark);
        if (segment == 0) {
          AddPart(partition.queues()->HintRemark(), &note.remark);
        }
      }
      note.output = OutputText(bound, entry);
      notes.push_back(std::move(note));
    }
  }
  return notes;
}

}  // namespace mace
