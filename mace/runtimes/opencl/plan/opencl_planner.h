// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Plans the launches of operators one after the other. It knows nothing of
// their order, nor of where tensors are.

#ifndef MACE_RUNTIMES_OPENCL_PLAN_OPENCL_PLANNER_H_
#define MACE_RUNTIMES_OPENCL_PLAN_OPENCL_PLANNER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/core/graph/graph.h"
#include "mace/core/graph/graph_shapes.h"
#include "mace/ops/opencl_op/opencl_op.h"
#include "mace/ops/window/window.h"
#include "mace/runtimes/opencl/plan/gpu_tensor.h"
#include "mace/runtimes/opencl/plan/opencl_plan.h"
#include "mace/runtimes/opencl/plan/tuned_values.h"

namespace mace {

class NodeContext;

// An operator, or some that are computed together, and their launches.
struct PlanUnit {
  std::vector<size_t> nodes;
  size_t segment = 0;
  size_t begin = 0;
  size_t end = 0;
};

// Plans the operators of a partition one after the other.
class Planner {
 public:
  // `floats`: per tensor of the graph, whether it is kept in float; empty: none
  // is.
  Planner(const Graph &graph,
          const GraphShapes &shapes,
          const OpenclPlanOptions &options,
          const std::vector<char> &floats)
      : graph_(graph), shapes_(shapes), options_(options), floats_(floats) {
    float_traits_ = options.traits;
    float_traits_.half_storage = false;
    float_traits_.half_arithmetic = false;
    plan_.tensor_of.assign(graph.tensors().size(), -1);
    plan_.reports.resize(graph.nodes().size());
  }

  // Before any operator.
  MaceStatus SetBorder(const std::vector<BorderStorage> &border) {
    for (const BorderStorage &entry : border) {
      MACE_ASSIGN_OR_RETURN(const int tensor, AddTensor(entry.tensor));
      plan_.tensors[tensor].storage = entry.storage;
      plan_.tensors[tensor].at_border = true;
      if (entry.in_caller) plan_.tensors[tensor].caller = entry.tensor;
    }
    return MaceStatus();
  }
  MaceStatus PlanNode(size_t node, size_t segment);
  // Plans operators as one, if there is a kernel for that.
  bool PlanTogether(const std::vector<size_t> &nodes, size_t segment);
  // The operator's rows, or those of some that are computed together, if they
  // have no more than one launch.
  std::optional<WindowAxis> RowsOf(const PlanUnit &unit);
  // Plans units whose rows are `axes`, each of which is the only reader of the
  // one before it, so that they run band by band.
  MaceStatus PlanBands(const std::vector<PlanUnit> &units,
                       const std::vector<WindowAxis> &axes,
                       int bands);
  OpenclPlan &plan() { return plan_; }
  int TensorOfInput(size_t node) const {
    return plan_.tensor_of[graph_.nodes()[node].inputs[0]];
  }
  int TensorOfOutput(size_t node) const {
    return plan_.tensor_of[graph_.nodes()[node].outputs[0]];
  }

 private:
  friend class NodeContext;

  bool IsFloat(int id) const {
    return id >= 0 && !floats_.empty() && floats_[static_cast<size_t>(id)] != 0;
  }
  size_t Choose(TuningChoice choice);
  GpuStorage Preferred(const GpuDims &dims, bool in_float) const;
  std::optional<GpuStorage> AliasStorage(const GraphNode &node,
                                         size_t output,
                                         size_t input) const;
  void Alias(const GraphNode &node, size_t output, size_t input);
  bool JoinInPlace(const GraphNode &node, bool channels);
  size_t ReadersOf(int root) const;
  bool AtBorder(int root) const;
  void SetStorage(int tensor, GpuStorage storage);
  Result<int> AddTensor(int id);
  int PartOfRows(int whole, const RowRange &rows);
  int BandTensor(int whole, const RowRange &rows);
  MaceStatus PlanBand(const PlanUnit &unit,
                      const RowBand &rows,
                      int input,
                      int output);
  static const OpenclFusionRegistration *FusionOf(
      const std::vector<NodeContext *> &contexts);
  MaceStatus AddLaunches(const std::vector<NodeContext *> &contexts,
                         size_t segment);
  MaceStatus CheckTypes(const NodeContext &context, uint32_t types) const;
  MaceStatus AddPorts(const GraphNode &node);
  void SetSegment(const GraphNode &node, size_t segment);
  Result<int> TensorOf(const LaunchArgument &argument,
                       const std::vector<const NodeContext *> &nodes) const;
  MaceStatus FinishAll(std::vector<Launch> launches,
                       const std::vector<const NodeContext *> &nodes,
                       size_t segment);
  MaceStatus Finish(Launch launch,
                    const std::vector<const NodeContext *> &nodes,
                    size_t segment);

  const Graph &graph_;
  const GraphShapes &shapes_;
  const OpenclPlanOptions &options_;
  const std::vector<char> &floats_;
  GpuTraits float_traits_;
  OpenclPlan plan_;
  std::vector<TuningChoice> open_choices_;  // of the operator at work
};

// FloatTensors of the graph; empty if the model's activations are no halves.
std::vector<char> FindFloatTensors(const Graph &graph,
                                   const GraphShapes &shapes,
                                   const OpenclPlanOptions &options);

// What is known of an operator before the shapes: its type, and the types of
// the model's inputs.
MaceStatus CheckWithoutShapes(const Graph &graph, const GraphNode &node);

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_PLAN_OPENCL_PLANNER_H_
