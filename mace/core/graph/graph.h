// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// What is left of a model once it was checked and cut down to the wanted
// outputs: operators and tensors, the same for every device. It knows no shapes
// but those of constants; see graph_shapes.h.

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
  // Without a shape unless it is a constant. `data` is that of a constant.
  Tensor tensor;
  TensorSource source = TensorSource::kOperator;
  // Index of the model input for kInput.
  size_t input_index = 0;
  // Of a constant: the bytes that are read for it.
  int64_t stored_bytes = 0;
};

struct GraphNode {
  const OperatorDef *def = nullptr;
  const OpSchema *schema = nullptr;
  // The host's; see HostOps.
  std::unique_ptr<Op> op;
  // Indices of tensors; -1 for an absent optional port.
  std::vector<int> inputs;
  std::vector<int> outputs;
};

// Memory for constants that operators transform; it lives as long as they do.
class PreparedConstants {
 public:
  // Uninitialised, 64-byte aligned; null when memory ran out. `used`: the bytes
  // of it that count.
  void *Allocate(size_t bytes, size_t used);
  size_t bytes() const { return bytes_; }

 private:
  std::vector<AlignedMemory> blocks_;
  size_t bytes_ = 0;
};

class Graph {
 public:
  // Keeps the operators that `outputs` (names of tensors or aliases) need, and
  // has the host make them. `model` was checked, and outlives the graph as do
  // `weights` and `host`.
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
  // A value that a run leaves for the next one; tensors.
  struct State {
    int input;
    int output;
  };
  // Those of the model whose input is needed.
  const std::vector<State> &states() const { return states_; }
  // Tensor of each requested output, in the order of `outputs`; then those of
  // the states.
  const std::vector<int> &outputs() const { return outputs_; }
  // How many of them were requested.
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

// What only the host does for a graph, whatever device runs it.
class HostOps {
 public:
  virtual ~HostOps() = default;
  // Makes `op` of every node, which has a schema.
  virtual MaceStatus MakeOps(Graph *graph) = 0;
  // False where Compute would not give what a run gives.
  virtual bool CanCompute(const GraphNode &node) const { return true; }
  // Computes the outputs of a node before the run. `tensors` are all of the
  // graph; what the node reads and writes has data, unless the node depends on
  // shapes only.
  virtual MaceStatus Compute(const Graph &graph,
                             size_t node,
                             std::vector<Tensor> *tensors) = 0;
};

// Names the operator in an error, unless the op did so itself.
MaceStatus AtOperator(const OperatorDef &def, const MaceStatus &status);

// The tensor at a port; null if it is absent. `Tensors` is a vector of Tensor.
template <typename Tensors>
auto TensorAt(Tensors &tensors, const std::vector<int> &ports, size_t index)
    -> decltype(&tensors[0]) {
  if (index >= ports.size() || ports[index] < 0) return nullptr;
  return &tensors[static_cast<size_t>(ports[index])];
}

}  // namespace mace

#endif  // MACE_CORE_GRAPH_GRAPH_H_
