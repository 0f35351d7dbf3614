// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_GRAPH_GRAPH_SHAPES_H_
#define MACE_CORE_GRAPH_GRAPH_SHAPES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mace/core/base/aligned_memory.h"
#include "mace/core/base/status.h"
#include "mace/core/graph/graph.h"
#include "mace/core/model/tensor.h"

namespace mace {

// What a set of input shapes implies for a graph on any device: the shape of
// every tensor, and the values of small integer tensors that follow from
// shapes and constants.
struct GraphShapes {
  // The tensors of the graph, with shapes. `data` is set for constants and for
  // values that are known before the run, and null for all others.
  std::vector<Tensor> tensors;
  std::vector<char> known;       // per tensor: computed before the run
  std::vector<char> known_node;  // per node: all of its outputs are known
  std::vector<AlignedMemory> values;

  // Bytes that are read for a tensor: for a packed constant, the stored bytes.
  int64_t StoredBytes(const Graph &graph, int tensor) const {
    const GraphTensor &entry = graph.tensors()[static_cast<size_t>(tensor)];
    return entry.source == TensorSource::kConstant
               ? entry.stored_bytes
               : tensors[static_cast<size_t>(tensor)].bytes();
  }
};

// `inputs`: shapes of graph.inputs().
Result<std::unique_ptr<GraphShapes>> InferShapes(
    const Graph &graph, const std::vector<Shape> &inputs, HostOps *host);

// The shape of a graph's tensor, for messages: an image is NHWC there, and may
// be NCHW for the user.
std::string InsideText(const Shape &shape);

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

#endif  // MACE_CORE_GRAPH_GRAPH_SHAPES_H_
