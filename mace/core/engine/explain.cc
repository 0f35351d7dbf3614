// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <sstream>
#include <vector>

#include "mace/core/engine/placed_graph.h"
#include "mace/core/graph/device.h"

namespace mace {
namespace {

// Nanoseconds as text: "12.3 us".
std::string Microseconds(int64_t nanos) {
  const int64_t tenths = (nanos + 50) / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) +
         " us";
}

}  // namespace

EnginePlacement PlacedGraph::Explain() const {
  EnginePlacement result;
  const PreparedRun *run = last();
  std::vector<std::vector<OperatorNote>> notes(devices_.size());
  std::vector<size_t> next(devices_.size(), 0);
  for (size_t d = 0; d < devices_.size(); ++d) {
    if (run != nullptr && run->partitions[d] != nullptr) {
      notes[d] = run->partitions[d]->Explain();
    }
  }
  const auto add_node = [&](int node, size_t device) {
    result.operators.emplace_back();
    OperatorPlacement &placed = result.operators.back();
    placed.device = devices_[device]->type();
    placed.estimated_nanos = 0;
    placed.measured_nanos = -1;
    if (node < 0) return;
    const Placement::NodePlace &place = placement_.nodes[node];
    placed.operator_name = graph_.nodes()[node].def->name;
    placed.type = graph_.nodes()[node].def->type;
    const std::vector<std::string> &subgraphs = graph_.model().subgraphs;
    if (!subgraphs.empty()) {
      placed.subgraph = subgraphs[graph_.nodes()[node].def->subgraph];
    }
    placed.estimated_nanos = static_cast<int64_t>(place.nanos);
    for (const Placement::Refusal &refusal : place.refusals) {
      placed.refusals.push_back(
          {devices_[refusal.device]->type(), refusal.reason});
    }
  };
  const auto add_notes_until = [&](size_t device, size_t end) {
    for (size_t &at = next[device]; at < end; ++at) {
      const OperatorNote &note = notes[device][at];
      add_node(note.node, device);
      OperatorPlacement &placed = result.operators.back();
      placed.operator_name = note.name;
      placed.type = note.type;
      placed.kernel = note.kernel;
      placed.output = note.output;
      placed.remark = note.remark;
    }
  };
  for (size_t i = 0; i < placement_.segments.size(); ++i) {
    const Placement::Segment &segment = placement_.segments[i];
    const size_t device = segment.device;
    const auto &copies = run == nullptr ? segment.copies : run->copies[i];
    for (const Placement::Copy &copy : copies) {
      if (copy.from == Placement::kCaller) continue;
      TensorCopy &shown = result.copies.emplace_back();
      shown.tensor = graph_.tensors()[copy.tensor].tensor.name;
      shown.from = devices_[copy.from]->type();
      shown.to = devices_[copy.to]->type();
      shown.bytes =
          run == nullptr ? -1 : run->shapes->tensors[copy.tensor].bytes();
      shown.before_operator = result.operators.size();
    }
    if (run != nullptr) {
      size_t end = next[device];
      while (end < notes[device].size() &&
             notes[device][end].segment == segment.index) {
        ++end;
      }
      add_notes_until(device, end);
    } else {
      for (int node : placement_.partitions[device].segments[segment.index]) {
        add_node(node, device);
      }
    }
  }
  for (OperatorPlacement &placed : result.operators) {
    for (const auto &measured : measured_) {
      if (measured.first != placed.operator_name) continue;
      placed.measured_nanos = measured.second;
      break;
    }
  }
  return result;
}

std::string ExplainText(const std::string &model,
                        bool shapes_known,
                        int threads,
                        const EnginePlacement &placement) {
  std::ostringstream text;
  std::vector<std::pair<DeviceType, size_t>> counts;
  for (const OperatorPlacement &op : placement.operators) {
    size_t i = 0;
    while (i < counts.size() && counts[i].first != op.device) ++i;
    if (i == counts.size()) counts.emplace_back(op.device, 0);
    ++counts[i].second;
  }
  text << "model '" << model << "':";
  for (size_t i = 0; i < counts.size(); ++i) {
    text << (i == 0 ? " " : ", ") << counts[i].second << " operators on "
         << DeviceName(counts[i].first);
  }
  text << ", " << threads << " thread(s)";
  if (!placement.copies.empty()) {
    int64_t bytes = 0;
    for (const TensorCopy &copy : placement.copies) bytes += copy.bytes;
    text << ", " << placement.copies.size() << " copies between devices";
    if (shapes_known) text << " (" << bytes << " bytes)";
  }
  text << '\n';
  for (const DeviceRefusal &device : placement.left_out) {
    text << DeviceName(device.device) << " is left out: " << device.reason
         << '\n';
  }
  size_t copy = 0;
  for (size_t step = 0; step < placement.operators.size(); ++step) {
    for (; copy < placement.copies.size() &&
           placement.copies[copy].before_operator == step;
         ++copy) {
      const TensorCopy &shown = placement.copies[copy];
      text << "  copy of '" << shown.tensor << "' from "
           << DeviceName(shown.from) << " to " << DeviceName(shown.to);
      if (shown.bytes >= 0) text << ", " << shown.bytes << " bytes";
      text << '\n';
    }
    const OperatorPlacement &op = placement.operators[step];
    text << step << ' ';
    if (!op.subgraph.empty()) text << op.subgraph << ": ";
    text << op.type << " '" << op.operator_name << "' "
         << DeviceName(op.device);
    for (const std::string *part : {&op.kernel, &op.output, &op.remark}) {
      if (!part->empty()) text << ' ' << *part;
    }
    if (op.estimated_nanos > 0) {
      text << ", estimated " << Microseconds(op.estimated_nanos);
    }
    if (op.measured_nanos >= 0) {
      text << ", measured " << Microseconds(op.measured_nanos);
    }
    text << '\n';
    for (const DeviceRefusal &refusal : op.refusals) {
      text << "    not on " << DeviceName(refusal.device) << ": "
           << refusal.reason << '\n';
    }
  }
  if (!shapes_known) text << "shapes are not known before the first run\n";
  return text.str();
}

}  // namespace mace
