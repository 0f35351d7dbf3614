// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "mace/core/model/quantization.h"
#include "mace/kernels/cpu/isa.h"
#include "mace/runtimes/cpu/storage_types.h"

namespace mace {
namespace {

constexpr int32_t kHalfRange = 128;
constexpr DataType kKernelType =
    kUnsignedBytes ? DataType::kUint8 : DataType::kInt8;
constexpr DataType kOtherType =
    kUnsignedBytes ? DataType::kInt8 : DataType::kUint8;

class Signs {
 public:
  Signs(const Graph &graph, CpuPlan *plan)
      : graph_(graph),
        plan_(*plan),
        shifts_(plan->tensors.size(), 0),
        group_(plan->tensors.size()) {
    std::iota(group_.begin(), group_.end(), 0);
  }

  void Choose() {
    for (size_t id = 0; id < shifts_.size(); ++id) {
      const PlannedTensor &entry = plan_.tensors[id];
      const Quantization *quantization = entry.tensor.quantization;
      shifts_[id] = static_cast<char>(entry.made && !entry.exported &&
                                      entry.tensor.data_type == kOtherType &&
                                      quantization != nullptr &&
                                      quantization->per_tensor());
    }
    for (const PlannedNode &node : plan_.nodes) {
      const Signedness signedness = SignednessOf(node);
      if (signedness == Signedness::kOfModel) Keep(node);
      if (signedness == Signedness::kSame) Join(node);
    }
    std::vector<char> keeps(shifts_.size(), 0);  // per group
    for (size_t id = 0; id < shifts_.size(); ++id) {
      if (shifts_[id] == 0) keeps[GroupOf(id)] = 1;
    }
    for (size_t id = 0; id < shifts_.size(); ++id) {
      if (keeps[GroupOf(id)] == 0) Shift(&plan_.tensors[id].tensor);
    }
  }

 private:
  Signedness SignednessOf(const PlannedNode &node) const {
    // Known values stay, and the partition adds only operators of floats.
    if (node.known || node.node->graph_node < 0) return Signedness::kAny;
    const OpSchema &schema = *graph_.nodes()[node.node->graph_node].schema;
    return node.node->quantized ? Signedness::kAny : schema.signedness;
  }

  // Calls `function` with each tensor of 8 bits.
  template <typename Function>
  void ForEachOf(const PlannedNode &node, const Function &function) const {
    for (const std::vector<int> *ports : {&node.inputs(), &node.outputs()}) {
      for (int id : *ports) {
        if (id < 0) continue;
        const DataType type = plan_.tensors[id].tensor.data_type;
        if (type == kKernelType || type == kOtherType) {
          function(static_cast<size_t>(id));
        }
      }
    }
  }

  void Keep(const PlannedNode &node) {
    ForEachOf(node, [this](size_t id) { shifts_[id] = 0; });
  }

  void Join(const PlannedNode &node) {
    size_t first = shifts_.size();
    ForEachOf(node, [&](size_t id) {
      if (first == shifts_.size()) first = id;
      group_[GroupOf(id)] = GroupOf(first);
    });
  }

  // The tensor that stands for those which must have one type.
  size_t GroupOf(size_t id) {
    while (group_[id] != id) {
      group_[id] = group_[group_[id]];  // shortens the way for the next time
      id = group_[id];
    }
    return id;
  }

  void Shift(Tensor *tensor) {
    tensor->shift = kUnsignedBytes ? kHalfRange : -kHalfRange;
    tensor->data_type = kKernelType;
    auto quantization = std::make_unique<Quantization>(*tensor->quantization);
    quantization->zero_points.resize(1);
    quantization->zero_points[0] += tensor->shift;
    tensor->quantization = quantization.get();
    plan_.shifted.push_back(std::move(quantization));
  }

  const Graph &graph_;
  CpuPlan &plan_;
  std::vector<char> shifts_;  // per tensor: whether it may be shifted
  std::vector<size_t>
      group_;  // per tensor: another one of its group, or itself
};

}  // namespace

void ChooseSignedness(const Graph &graph, CpuPlan *plan) {
  Signs(graph, plan).Choose();
}

}  // namespace mace
