// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_GRAPH_NODE_COST_H_
#define MACE_CORE_GRAPH_NODE_COST_H_

#include <cstddef>

#include "mace/core/graph/graph.h"
#include "mace/core/graph/graph_shapes.h"

namespace mace {

// The estimated work of one run of an operator, independent of the device; used
// to choose between devices.
struct NodeCost {
  double macs = 0;   // multiply-accumulates
  double bytes = 0;  // of inputs, constants and outputs
};

NodeCost EstimateCost(const Graph &graph,
                      size_t node,
                      const GraphShapes &shapes);

}  // namespace mace

#endif  // MACE_CORE_GRAPH_NODE_COST_H_
