// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/cpu/cpu_plan.h"

#include <utility>

#include "mace/runtimes/cpu/storage_types.h"

namespace mace {
namespace {

class NodePlanContext final : public RecordingPlanContext {
 public:
  NodePlanContext(PlannedNode *node,
                  const std::vector<PlannedTensor> &tensors,
                  ThreadPool *pool)
      : RecordingPlanContext(pool, node), node_(*node), tensors_(tensors) {}

  size_t input_count() const override { return node_.inputs().size(); }
  size_t output_count() const override { return node_.outputs().size(); }
  const Tensor *input(size_t index) const override {
    return At(node_.inputs(), index);
  }
  const Tensor *output(size_t index) const override {
    return At(node_.outputs(), index);
  }

 private:
  const Tensor *At(const std::vector<int> &ports, size_t index) const {
    const PlannedTensor *entry = TensorAt(tensors_, ports, index);
    return entry == nullptr ? nullptr : &entry->tensor;
  }

  const PlannedNode &node_;
  const std::vector<PlannedTensor> &tensors_;
};

MaceStatus PlanNode(PlannedNode *node,
                    const std::vector<PlannedTensor> &tensors,
                    ThreadPool *pool,
                    std::vector<PrepareRequest> *requests) {
  NodePlanContext context(node, tensors, pool);
  MACE_RETURN_IF_ERROR(
      AtOperator(*node->node->def, node->node->op->Plan(&context)));
  for (auto &[bytes, fill] : node->prepared) {
    requests->push_back({node->node, bytes, std::move(fill)});
  }
  node->prepared.clear();
  return MaceStatus();
}

void FillTensors(const CpuNodes &nodes,
                 const Graph &graph,
                 const GraphShapes &shapes,
                 std::vector<PlannedTensor> *tensors) {
  tensors->resize(nodes.tensor_count());
  for (size_t id = 0; id < tensors->size(); ++id) {
    PlannedTensor &entry = (*tensors)[id];
    if (id < nodes.graph_tensors) {
      entry.tensor = shapes.tensors[id];
      entry.known = shapes.known[id] != 0;
    } else {
      const CpuNodes::Conversion &added = nodes.added[id - nodes.graph_tensors];
      entry.tensor = (*tensors)[added.source].tensor;
      entry.tensor.name = added.name;
      entry.tensor.is_constant = false;
      entry.tensor.data = nullptr;
    }
    if (nodes.stored_as[id] != DataType::kUnknown) {
      entry.tensor.data_type = nodes.stored_as[id];
    }
    entry.stored_bytes = entry.tensor.is_constant
                             ? graph.tensors()[id].stored_bytes
                             : entry.tensor.bytes();
  }
  for (const PartitionSpec::Border &border : nodes.exports) {
    (*tensors)[nodes.export_of[border.tensor]].exported = true;
  }
}

}  // namespace

Result<std::unique_ptr<CpuPlan>> PlanOperators(
    const CpuNodes &nodes,
    const Graph &graph,
    const GraphShapes &shapes,
    ThreadPool *pool,
    std::vector<PrepareRequest> *requests) {
  auto plan = std::make_unique<CpuPlan>();
  plan->nodes_of = &nodes;
  FillTensors(nodes, graph, shapes, &plan->tensors);
  plan->nodes.resize(nodes.nodes.size());
  for (size_t i = 0; i < nodes.nodes.size(); ++i) {
    PlannedNode &node = plan->nodes[i];
    node.node = &nodes.nodes[i];
    const int graph_node = node.node->graph_node;
    node.known = graph_node >= 0 && shapes.known_node[graph_node] != 0;
    if (node.known) continue;
    for (int id : node.outputs()) {
      if (id >= 0) plan->tensors[id].made = true;
    }
  }
  if (ChooseSignedness != nullptr) ChooseSignedness(graph, plan.get());
  if (FindChoices != nullptr) FindChoices(graph, plan.get());
  for (PlannedNode &node : plan->nodes) {
    if (node.known) continue;
    MACE_RETURN_IF_ERROR(PlanNode(&node, plan->tensors, pool, requests));
  }
  return plan;
}

}  // namespace mace
