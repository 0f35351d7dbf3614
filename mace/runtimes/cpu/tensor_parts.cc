// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/cpu/tensor_parts.h"

#include <cstddef>

namespace mace {
namespace {

class PartFinder {
 public:
  PartFinder(const CpuPlan &plan, const std::vector<char> &external)
      : plan_(plan),
        external_(external),
        parts_(plan.tensors.size()),
        strided_(plan.tensors.size(), 1) {}

  std::vector<TensorPart> Find() {
    // A part would have to be computed in the loop of its owner.
    if (!plan_.nodes_of->loops.empty()) return std::move(parts_);
    FindStrided();
    // Owners come first: a part of a part uses the stride of the outer one.
    for (size_t step = plan_.nodes.size(); step-- > 0;) {
      const PlannedNode &node = plan_.nodes[step];
      if (node.known) continue;
      for (const PlannedNode::Part &part : node.parts) {
        const int owner = node.outputs()[part.output];
        const int id = node.inputs()[part.input];
        if (owner >= 0 && id >= 0) Place(id, owner, part.place);
      }
    }
    return std::move(parts_);
  }

 private:
  // Finds tensors whose rows may be strided: all operators that write or read
  // them allow it, and they are not used outside the graph.
  void FindStrided() {
    for (const PlannedNode &node : plan_.nodes) {
      if (node.known) continue;
      size_t port = 0;
      for (const auto *ids : {&node.inputs(), &node.outputs()}) {
        for (int id : *ids) {
          if (!node.MayBeStrided(port)) Refuse(id);
          ++port;
        }
      }
    }
    for (size_t id = 0; id < plan_.tensors.size(); ++id) {
      if (plan_.tensors[id].exported) Refuse(static_cast<int>(id));
    }
  }
  void Refuse(int id) {
    if (id >= 0) strided_[id] = 0;
  }

  bool InArena(int id) const {
    const PlannedTensor &entry = plan_.tensors[id];
    return entry.made && !external_[id] && entry.tensor.bytes() > 0;
  }

  void Place(int id, int owner, const PartPlace &place) {
    if (id == owner || parts_[id].owner >= 0 || !InArena(id) ||
        !InArena(owner)) {
      return;
    }
    const Tensor &tensor = plan_.tensors[id].tensor;
    const Tensor &whole = plan_.tensors[owner].tensor;
    if (tensor.data_type != whole.data_type) return;
    const auto size = static_cast<int64_t>(DataTypeSize(tensor.data_type));
    const int64_t bytes = tensor.bytes();
    TensorPart part = {owner, place.offset * size, place.run * size,
                       place.stride * size};
    const TensorPart &outer = parts_[owner];
    if (outer.owner >= 0 && outer.run != whole.bytes()) {
      // The owner's rows are strided: this must be a part of each row.
      if (part.stride != outer.run) return;
      part.stride = outer.stride;
    }
    if (part.run != bytes &&
        (!strided_[id] || part.run != tensor.row_length() * size)) {
      return;
    }
    parts_[id] = part;
  }

  const CpuPlan &plan_;
  const std::vector<char> &external_;
  std::vector<TensorPart> parts_;
  std::vector<char> strided_;
};

}  // namespace

std::vector<TensorPart> FindParts(const CpuPlan &plan,
                                  const std::vector<char> &external) {
  return PartFinder(plan, external).Find();
}

}  // namespace mace
