// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Which tensors are kept in float though activations are half, because their
// numbers may be too small or too large for it, and that matters.
//
// Such numbers begin at squares and exponentials, and pass through what moves,
// scales or adds them. They matter where a logarithm, a root or a division
// reads them: from there, tensors are kept in float back to where the numbers
// begin, or to an operator that is no such step (a convolution of ordinary
// numbers, an activation). Inverses and multiples of constants that half does
// not hold are kept in float, whatever reads them, until such an operator.
// Everything else is half: sums of ordinary numbers are not followed back, so
// that no more than the neighbours of such an operator change.
//
// Kernels know nothing of it: they read and write each tensor as it is stored.

#ifndef MACE_RUNTIMES_OPENCL_PLAN_FLOAT_TENSORS_H_
#define MACE_RUNTIMES_OPENCL_PLAN_FLOAT_TENSORS_H_

#include <vector>

#include "mace/core/graph/graph.h"
#include "mace/core/graph/graph_shapes.h"
#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {

// Per tensor of the graph. `ranges`: per node; those on other devices count,
// too.
std::vector<char> FloatTensors(const Graph &graph,
                               const GraphShapes &shapes,
                               const std::vector<NumberRange> &ranges);

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_PLAN_FLOAT_TENSORS_H_
