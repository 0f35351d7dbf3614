// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The CPU's operators of a graph, and their plans for a set of input shapes.

#ifndef MACE_RUNTIMES_CPU_CPU_PLAN_H_
#define MACE_RUNTIMES_CPU_CPU_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/core/base/thread_pool.h"
#include "mace/core/graph/device.h"
#include "mace/core/graph/graph.h"
#include "mace/core/graph/graph_shapes.h"
#include "mace/core/model/quantization.h"
#include "mace/core/model/tensor.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/plan_record.h"
#include "mace/runtimes/cpu/loops.h"

namespace mace {

// An operator of the partition. Tensor indices are those of the graph; the
// tensors that the partition adds come after the graph's.
struct CpuNode {
  const OperatorDef *def = nullptr;
  CpuOp *op = nullptr;
  int graph_node = -1;  // -1 for one that the partition added
  std::vector<int> inputs;
  std::vector<int> outputs;
  bool quantized = false;  // IsQuantized
};

// What all plans of a partition have in common.
struct CpuNodes {
  std::vector<CpuNode> nodes;        // in the order of execution
  std::vector<size_t> segment_ends;  // index of the node after each segment
  std::vector<PartitionSpec::Border> imports;
  // Tensors of the graph. A tensor that is stored in 16 bits is converted for
  // export, see export_of.
  std::vector<PartitionSpec::Border> exports;

  // A tensor that the partition adds: it has the values of tensor `source` in
  // another type.
  struct Conversion {
    int source;
    std::string name;
  };
  size_t graph_tensors = 0;
  std::vector<Conversion> added;
  // Per tensor, including added ones: the stored type if it differs from the
  // one in the model; otherwise kUnknown.
  std::vector<DataType> stored_as;
  // Operators that the partition added, and their definitions.
  std::vector<std::unique_ptr<OperatorDef>> added_defs;
  std::vector<std::unique_ptr<Op>> added_ops;
  // Per graph tensor: the tensor that is exported in its place.
  std::vector<int> export_of;
  // Inner loops before outer ones.
  std::vector<CpuLoop> loops;

  size_t tensor_count() const { return graph_tensors + added.size(); }
  size_t SegmentBegin(size_t segment) const {
    return segment == 0 ? 0 : segment_ends[segment - 1];
  }
};

struct PlannedTensor {
  Tensor tensor;
  // Whether an operator of this partition computes it in the run.
  bool made = false;
  bool known = false;  // value known before the run
  bool exported = false;
  // Bytes that are read for it: for a packed constant, the stored bytes.
  int64_t stored_bytes = 0;
};

struct PlannedNode : PlanRecord {
  const CpuNode *node = nullptr;
  bool known = false;  // computed before the run, and not run again
  // Set before the run.
  void *scratch = nullptr;

  const std::vector<int> &inputs() const { return node->inputs; }
  const std::vector<int> &outputs() const { return node->outputs; }
  const RowBands *row_bands() const {
    return plan == nullptr ? nullptr : plan->row_bands();
  }
  int64_t Macs() const { return plan == nullptr ? 0 : plan->Macs(); }
};

// Memory that an operator requests for a transformed constant.
struct PrepareRequest {
  const CpuNode *node;
  size_t bytes;
  PlanContext::Fill fill;
};

struct CpuPlan {
  const CpuNodes *nodes_of = nullptr;
  std::vector<PlannedTensor> tensors;
  std::vector<PlannedNode> nodes;
  // What the integers of shifted tensors stand for.
  std::vector<std::unique_ptr<const Quantization>> shifted;
  // Empty if there are no choices. Otherwise the place of each node's guards in
  // this list (0: it always runs), and then the guards: 2 * the tensor of a
  // condition + the value with which the node runs; -1 behind the last one.
  std::vector<int> guards;
};

// Returns the tensors with their shapes and types, and the plan of every
// operator that is not computed before the run. Appends to `requests`.
Result<std::unique_ptr<CpuPlan>> PlanOperators(
    const CpuNodes &nodes,
    const Graph &graph,
    const GraphShapes &shapes,
    ThreadPool *pool,
    std::vector<PrepareRequest> *requests);

// What an operator sees when it runs.
class NodeRunContext final : public RunContext {
 public:
  NodeRunContext(const PlannedNode &node,
                 std::vector<PlannedTensor> *tensors,
                 ThreadPool *pool)
      : node_(node), tensors_(tensors), pool_(pool) {}

  size_t input_count() const override { return node_.inputs().size(); }
  size_t output_count() const override { return node_.outputs().size(); }
  const Tensor *input(size_t index) const override {
    const PlannedTensor *entry = TensorAt(*tensors_, node_.inputs(), index);
    return entry == nullptr ? nullptr : &entry->tensor;
  }
  Tensor *output(size_t index) const override {
    PlannedTensor *entry = TensorAt(*tensors_, node_.outputs(), index);
    return entry == nullptr ? nullptr : &entry->tensor;
  }
  void *scratch() const override { return node_.scratch; }
  ThreadPool *thread_pool() const override { return pool_; }
  const OpPlan *plan() const override { return node_.plan.get(); }

 private:
  const PlannedNode &node_;
  std::vector<PlannedTensor> *tensors_;
  ThreadPool *pool_;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_CPU_CPU_PLAN_H_
