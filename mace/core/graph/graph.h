// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The operators and tensors of a checked model that the wanted outputs need,
// the same for every device. Only constants have shapes here; see
// graph_shapes.h for the others.

#ifndef MACE_CORE_GRAPH_GRAPH_H_
#define MACE_CORE_GRAPH_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mace/core/base/aligned_memory.h"
#include "mace/core/base/status.h"
#include "mace/core/model/model.h"
#include "mace/core/model/op.h"
#include "mace/core/model/tensor.h"

namespace mace {

class HostOps;

enum class TensorSource : uint8_t { kInput, kConstant, kOperator };

struct GraphTensor {
  // Only a constant has a shape and data.
  Tensor tensor;
  TensorSource source = TensorSource::kOperator;
  // Index of the model input for kInput.
  size_t input_index = 0;
  // For a constant: the number of bytes that are read.
  int64_t stored_bytes = 0;
};

struct GraphNode {
  const OperatorDef *def = nullptr;
  const OpSchema *schema = nullptr;
  const QuantizedChecks *quantized = nullptr;  // not null: IsQuantized
  ParsedAttributes attributes;
  // Created by the host; see HostOps.
  std::unique_ptr<Op> op;
  // Indices of tensors; -1 for an absent optional port.
  std::vector<int> inputs;
  std::vector<int> outputs;
};

// Memory for constants that operators transform; it lives as long as the
// operators.
class PreparedConstants {
 public:
  // Uninitialised and 64-byte aligned; null if there is not enough memory.
  // `used`: how many of these bytes are added to bytes().
  void *Allocate(size_t bytes, size_t used);
  size_t bytes() const { return bytes_; }

 private:
  std::vector<AlignedMemory> blocks_;
  size_t bytes_ = 0;
};

class Graph {
 public:
  // Keeps the operators that `outputs` (names of tensors or aliases) need; the
  // host creates them. `model` must have been checked. `model`, `weights` and
  // `host` must outlive the graph.
  static Result<std::unique_ptr<Graph>> Create(
      const Model &model,
      const void *weights,
      const std::vector<std::string> &outputs,
      HostOps *host);

  const Model &model() const { return model_; }
  const DeploymentHints &hints() const { return model_.hints; }
  const std::vector<GraphNode> &nodes() const { return nodes_; }
  std::vector<GraphNode> &nodes() { return nodes_; }
  const std::vector<GraphTensor> &tensors() const { return tensors_; }
  // Tensor indices of a value that is kept from one run to the next.
  struct State {
    int input;
    int output;
  };
  // The states of the model whose input is needed.
  const std::vector<State> &states() const { return states_; }
  // Tensor of each requested output, in the order of `outputs`; then the output
  // tensors of the states.
  const std::vector<int> &outputs() const { return outputs_; }
  // Number of requested outputs, without those of the states.
  size_t requested_outputs() const { return outputs_.size() - states_.size(); }
  // Tensors of the model inputs that are needed.
  const std::vector<int> &inputs() const { return inputs_; }
  PreparedConstants *prepared() const { return &prepared_; }

 private:
  explicit Graph(const Model &model) : model_(model) {}
  Graph(const Graph &) = delete;
  MaceStatus Build(const void *weights,
                   const std::vector<std::string> &outputs);

  const Model &model_;
  std::vector<GraphNode> nodes_;
  std::vector<GraphTensor> tensors_;
  std::vector<int> inputs_;
  std::vector<int> outputs_;
  std::vector<State> states_;
  mutable PreparedConstants prepared_;
};

// What the host does for every graph, whichever devices run it.
class HostOps {
 public:
  virtual ~HostOps() = default;
  // Creates `op` of every node; each node has a schema and attributes.
  virtual MaceStatus MakeOps(Graph *graph) = 0;
  // False if Compute could give a result other than a run.
  virtual bool CanCompute(const GraphNode &node) const { return true; }
  // Computes the outputs of a node before the run. `tensors` are all tensors of
  // the graph; those that the node reads and writes have data, unless the node
  // depends only on shapes.
  virtual MaceStatus Compute(const Graph &graph,
                             size_t node,
                             std::vector<Tensor> *tensors) = 0;
};

// The tensor at a port; null if it is absent. `Tensors` is a vector of Tensor.
template <typename Tensors>
auto TensorAt(Tensors &tensors, const std::vector<int> &ports, size_t index)
    -> decltype(&tensors[0]) {
  if (index >= ports.size() || ports[index] < 0) return nullptr;
  return &tensors[static_cast<size_t>(ports[index])];
}

}  // namespace mace

#endif  // MACE_CORE_GRAPH_GRAPH_H_
