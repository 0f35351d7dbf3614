// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/graph/node_cost.h"

#include <algorithm>

namespace mace {
namespace {

// The products in each output, if the port is for weights: all dimensions of a
// filter [O, ...] except the first, or the rows of matrices [..., K, N].
int64_t Terms(const PortSchema &port, const Shape &shape) {
  const size_t rank = shape.rank();
  if (rank < 2 || shape[0] <= 0) return 0;
  if (port.layouts == kFilterLayouts) return shape.Elements(1, rank);
  return port.layouts == kIntegerMatrixLayouts ? shape[rank - 2] : 0;
}

}  // namespace

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
    const Shape &shape = shapes.tensors[id].shape;
    cost.macs =
        std::max(cost.macs, outputs * static_cast<double>(Terms(port, shape)));
  }
  return cost;
}

}  // namespace mace
