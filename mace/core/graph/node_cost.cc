// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/graph/node_cost.h"

#include <algorithm>

namespace mace {

NodeCost EstimateCost(const Graph &graph,
                      size_t index,
                      const GraphShapes &shapes) {
  const GraphNode &node = graph.nodes()[index];
  NodeCost cost;
  double outputs = 0;
  for (int id : node.outputs) {
    if (id < 0) continue;
    outputs += static_cast<double>(shapes.tensors[id].elements());
    cost.bytes += static_cast<double>(shapes.tensors[id].bytes());
  }
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const int id = node.inputs[i];
    if (id < 0) continue;
    cost.bytes += static_cast<double>(shapes.StoredBytes(graph, id));
    const PortSchema &port =
        PortSchemaAt(node.schema->inputs, node.schema->input_count, i);
    // A packed constant, [O, ...], is a filter: each output is a sum over all
    // its dimensions except the first.
    const Shape &shape = shapes.tensors[id].shape;
    if (!port.packed || shape.rank() < 2 || shape[0] <= 0) continue;
    cost.macs = std::max(
        cost.macs,
        outputs * static_cast<double>(shape.Elements(1, shape.rank())));
  }
  return cost;
}

}  // namespace mace
