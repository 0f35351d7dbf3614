// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The work of operators, and what reports say of those that are computed
// together.

#ifndef MACE_RUNTIMES_OPENCL_PLAN_OPERATOR_STATS_H_
#define MACE_RUNTIMES_OPENCL_PLAN_OPERATOR_STATS_H_

#include <vector>

#include "mace/core/graph/graph.h"
#include "mace/core/graph/graph_shapes.h"
#include "mace/ops/opencl_op/opencl_op.h"
#include "mace/public/mace_statistics.h"
#include "mace/runtimes/opencl/driver/gpu_device.h"

namespace mace {

// Sets name, type and geometry, to those of the operator with the most
// multiply-adds, or else of the last; the shapes of the last one's outputs; the
// multiply-adds of all; and the bytes that they read and write, without tensors
// between them. `nodes`: of the graph, in the order in which they are computed.
// `reports`: per node of the graph.
void DescribeOperators(const Graph &graph,
                       const std::vector<int> &nodes,
                       const GraphShapes &shapes,
                       const std::vector<OpReport> &reports,
                       OperatorStats *stats);

// The work of an operator: an estimate, with the multiply-adds of its report if
// it has them.
NodeCost CostOf(const Graph &graph,
                size_t node,
                const GraphShapes &shapes,
                const std::vector<OpReport> &reports);

// Estimated time of the kernels of an operator, without that of launching.
double KernelNanos(const GpuDevice &device, const NodeCost &cost);

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_PLAN_OPERATOR_STATS_H_
