// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The inputs and outputs of an engine: matches the caller's tensors to them by
// name, and checks that they fit.

#ifndef MACE_CORE_ENGINE_PORTS_H_
#define MACE_CORE_ENGINE_PORTS_H_

#include <map>
#include <string>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/core/graph/device.h"
#include "mace/core/graph/graph.h"
#include "mace/core/graph/graph_shapes.h"
#include "mace/core/model/model.h"
#include "mace/public/mace.h"

namespace mace {

using CallerTensors = std::map<std::string, MaceTensor>;

struct InputPort {
  const ValueInfo *info = nullptr;
  int tensor = -1;
  size_t place = 0;  // in graph.inputs()
};
struct OutputPort {
  int tensor = -1;
  const std::string *name = nullptr;  // of the tensor
  const ValueInfo *info = nullptr;    // null for an intermediate tensor
};

class Ports {
 public:
  // `graph` must outlive the result. MACE_INVALID_ARGS if `input_nodes` (empty:
  // all) has a name that is not an input, or misses an input that the outputs
  // need.
  static Result<Ports> Create(const Graph &graph,
                              const std::vector<std::string> &input_nodes);

  // Inputs are in the order of graph.inputs() without states, which are not
  // ports; outputs in the order of the requested graph.outputs() without
  // duplicates.
  const std::vector<InputPort> &inputs() const { return inputs_; }
  const std::vector<OutputPort> &outputs() const { return outputs_; }

  // Fills callers[0, inputs().size()), which must exist, and their entries in
  // `shapes`, which has one for each of graph.inputs().
  MaceStatus MatchInputs(const CallerTensors &given,
                         std::vector<CallerTensor> *callers,
                         std::vector<Shape> *shapes) const;
  // Fills the next outputs().size() of `callers`; outputs that the caller does
  // not want have no data.
  MaceStatus MatchOutputs(CallerTensors *given,
                          const GraphShapes &shapes,
                          std::vector<CallerTensor> *callers) const;
  // Tells the visitor all inputs, or, if `shapes` is not null, all outputs.
  void Visit(const GraphShapes *shapes, const PortVisitor &visitor) const;
  // Sets the shapes of the caller's outputs to those of the results.
  void SetOutputShapes(const GraphShapes &shapes,
                       const std::vector<CallerTensor> &callers,
                       CallerTensors *given) const;

 private:
  explicit Ports(const Graph &graph) : graph_(&graph) {}

  // Fails if the alias of a port is the name or alias of another port.
  MaceStatus CheckAliases() const;
  // `given`: in the application's order, as the message has it.
  static MaceStatus CheckShape(const ValueInfo &info,
                               const Shape &given,
                               bool nchw);
  MaceStatus MatchInput(const InputPort &port,
                        const MaceTensor &given,
                        HostTensor *host) const;
  MaceStatus MatchOutput(const OutputPort &port,
                         MaceTensor *given,
                         const Tensor &tensor,
                         HostTensor *host) const;
  // Index of the output with this name or alias, or outputs().size().
  size_t FindOutput(const std::string &name) const;
  MaceStatus WrongInputs(const CallerTensors &given) const;
  MaceStatus WrongOutputs(const CallerTensors &given) const;

  const Graph *graph_;
  std::vector<InputPort> inputs_;
  std::vector<OutputPort> outputs_;
  // Inputs of the model that no wanted output needs, and states. The caller may
  // pass such inputs, but they are not read.
  std::vector<std::string> unneeded_inputs_;
};

// Whether a name that the caller uses is that of a port: the name of its
// tensor, or its alias. `info` may be null.
bool IsNameOf(const std::string &tensor_name,
              const ValueInfo *info,
              const std::string &name);

}  // namespace mace

#endif  // MACE_CORE_ENGINE_PORTS_H_
