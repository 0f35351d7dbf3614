// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/run/explain_plan.h"

#include <algorithm>
#include <string>
#include <utility>

namespace mace {
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
