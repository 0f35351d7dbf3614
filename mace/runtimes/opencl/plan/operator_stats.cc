// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/plan/operator_stats.h"

#include <algorithm>

namespace mace {

NodeCost CostOf(const Graph &graph,
                size_t node,
                const GraphShapes &shapes,
                const std::vector<OpReport> &reports) {
  NodeCost cost = EstimateCost(graph, node, shapes);
  const int64_t macs = reports[node].macs;
  if (macs > 0) cost.macs = static_cast<double>(macs);
  return cost;
}

double KernelNanos(const GpuDevice &device, const NodeCost &cost) {
  const double compute =
      cost.macs / (device.facts.macs_per_nano * device.traits.compute_units);
  return std::max(compute, cost.bytes / device.facts.bytes_per_nano);
}

void DescribeOperators(const Graph &graph,
                       const std::vector<int> &nodes,
                       const GraphShapes &shapes,
                       const std::vector<OpReport> &reports,
                       OperatorStats *stats) {
  const GraphNode &last = graph.nodes()[static_cast<size_t>(nodes.back())];
  auto heaviest = static_cast<size_t>(nodes.back());
  double most = 0;
  double macs = 0;
  double bytes = 0;
  std::vector<int> made;
  for (int index : nodes) {
    const GraphNode &node = graph.nodes()[static_cast<size_t>(index)];
    const NodeCost cost =
        CostOf(graph, static_cast<size_t>(index), shapes, reports);
    macs += cost.macs;
    bytes += cost.bytes;
    if (cost.macs > most) {
      most = cost.macs;
      heaviest = static_cast<size_t>(index);
    }
    for (int id : node.inputs) {
      if (std::find(made.begin(), made.end(), id) == made.end()) continue;
      // Written by one and read by the other.
      const Tensor &between = shapes.tensors[static_cast<size_t>(id)];
      bytes -= 2 * static_cast<double>(between.bytes());
    }
    for (int id : node.outputs) {
      if (id >= 0) made.push_back(id);
    }
  }
  stats->operator_name = graph.nodes()[heaviest].def->name;
  stats->type = graph.nodes()[heaviest].def->type;
  stats->args = reports[heaviest].geometry;
  stats->macs = static_cast<int64_t>(macs);
  stats->bytes = static_cast<int64_t>(std::max(bytes, 0.0));
  for (int id : last.outputs) {
    if (id < 0) continue;
    const Shape &shape = shapes.tensors[static_cast<size_t>(id)].shape;
    stats->output_shape.emplace_back(shape.begin(), shape.end());
  }
}

}  // namespace mace
