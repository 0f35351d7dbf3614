// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The values that are kept from one run to the next, in the engine's memory.

#ifndef MACE_CORE_ENGINE_STATES_H_
#define MACE_CORE_ENGINE_STATES_H_

#include <cstddef>
#include <vector>

#include "mace/core/base/aligned_memory.h"
#include "mace/core/base/status.h"
#include "mace/core/graph/device.h"
#include "mace/core/graph/graph.h"
#include "mace/core/graph/graph_shapes.h"

namespace mace {

// Each state has two buffers: one that the run reads and one that it writes. A
// run that fails therefore leaves the state as it was.
class States {
 public:
  // All zero. `graph` outlives the result.
  static Result<States> Create(const Graph &graph);

  size_t count() const { return buffers_.size(); }
  size_t bytes() const;
  // The shape of the input of a state; null if the tensor is not one.
  const Shape *ShapeOf(int tensor) const;

  // Checks that the output of each state has the shape and type of its input.
  MaceStatus Check(const GraphShapes &shapes) const;
  // Writes an input and an output for each state.
  void Fill(CallerTensor *callers) const;
  // Makes the written values current; call it after a run that succeeded.
  void Commit();
  void Reset();

 private:
  explicit States(const Graph &graph) : graph_(&graph) {}

  struct Buffers {
    Shape shape;  // as the graph sees it
    DataType data_type = DataType::kUnknown;
    AlignedMemory current;
    AlignedMemory next;
  };
  const Graph *graph_;
  std::vector<Buffers> buffers_;
};

}  // namespace mace

#endif  // MACE_CORE_ENGINE_STATES_H_
