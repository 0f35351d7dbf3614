// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/cpu/arena_layout.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "mace/core/base/aligned_memory.h"
#include "mace/runtimes/cpu/tensor_parts.h"

namespace mace {
namespace {

// Links are in the scratch memory of their chain.
std::vector<char> NotInArena(const std::vector<char> &external,
                             const std::vector<BandChain> &chains) {
  std::vector<char> apart = external;
  for (const BandChain &chain : chains) {
    for (const BandLink &link : chain.links) apart[link.tensor] = 1;
  }
  return apart;
}

class LayoutMaker {
 public:
  LayoutMaker(const CpuPlan &plan,
              const std::vector<char> &external,
              std::vector<BandChain> chains,
              int threads)
      : plan_(plan),
        threads_(static_cast<size_t>(threads)),
        external_(NotInArena(external, chains)),
        parts_(FindParts(plan, external_)),
        first_use_(plan.tensors.size(), -1),
        last_use_(plan.tensors.size(), -1),
        last_part_use_(plan.tensors.size(), -1),
        taken_(plan.tensors.size(), 0) {
    layout_.tensor_request.assign(plan.tensors.size(), -1);
    layout_.scratch_request.assign(plan.nodes.size(), -1);
    layout_.row_stride.assign(plan.tensors.size(), 0);
    layout_.chain_of.assign(plan.nodes.size(), -1);
    layout_.chains = std::move(chains);
    for (size_t i = 0; i < layout_.chains.size(); ++i) {
      for (int step : layout_.chains[i].nodes) {
        layout_.chain_of[step] = static_cast<int>(i);
      }
    }
  }

  ArenaLayout Make() {
    FindUses();
    for (size_t step = 0; step < plan_.nodes.size(); ++step) {
      AddImports(step);
      const PlannedNode &node = plan_.nodes[step];
      if (node.known) continue;
      for (size_t i = 0; i < node.outputs().size(); ++i) {
        if (node.outputs()[i] < 0) continue;
        Add(node.outputs()[i], InPlaceInput(node, i, static_cast<int>(step)));
      }
      const size_t scratch = ScratchAt(step);
      if (scratch > 0) {
        layout_.scratch_request[step] =
            static_cast<int>(layout_.requests.size());
        layout_.requests.push_back(
            {scratch, static_cast<int>(step), static_cast<int>(step), -1});
      }
    }
    AddImports(plan_.nodes.size());
    LinkParts();
    return std::move(layout_);
  }

 private:
  // Adds the tensors that are copied in before the segment that begins at
  // `step`.
  void AddImports(size_t step) {
    for (const PartitionSpec::Border &border : plan_.nodes_of->imports) {
      if (plan_.nodes_of->SegmentBegin(border.segment) != step ||
          layout_.tensor_request[border.tensor] >= 0) {
        continue;
      }
      first_use_[border.tensor] = static_cast<int>(step);
      Add(border.tensor);
    }
  }

  // The step at which a node runs.
  int StepOf(int node) const {
    const BandChain *chain = layout_.ChainAt(static_cast<size_t>(node));
    return chain == nullptr ? node : chain->nodes.back();
  }
  size_t ScratchAt(size_t node) const {
    const BandChain *chain = layout_.ChainAt(node);
    if (chain == nullptr) return plan_.nodes[node].scratch_bytes;
    return chain->EndsWith(node) ? chain->thread_bytes * threads_ : 0;
  }

  void FindUses() {
    const CpuNodes &nodes_of = *plan_.nodes_of;
    const auto end = static_cast<int>(plan_.nodes.size());
    for (int step = 0; step < end; ++step) {
      const PlannedNode &node = plan_.nodes[step];
      if (node.known) continue;
      for (int id : node.inputs()) {
        if (id >= 0) last_use_[id] = std::max(last_use_[id], StepOf(step));
      }
    }
    // Exports are read after their segment, or after the last operator.
    for (const PartitionSpec::Border &border : nodes_of.exports) {
      const int id = nodes_of.export_of[border.tensor];
      const int step =
          border.segment < nodes_of.segment_ends.size()
              ? static_cast<int>(nodes_of.SegmentBegin(border.segment))
              : end;
      last_use_[id] = std::max(last_use_[id], step);
    }
    if (!nodes_of.loops.empty()) ExtendLives(plan_, &first_use_, &last_use_);
    // An owner is in use from the first to the last use of its parts, all of
    // which are computed before it.
    for (int step = 0; step < end; ++step) {
      for (int id : plan_.nodes[step].outputs()) {
        if (id < 0) continue;
        if (first_use_[id] < 0) first_use_[id] = step;
        last_use_[id] = std::max(step, last_use_[id]);
        const int owner = parts_[id].owner;
        if (owner < 0) continue;
        first_use_[owner] = first_use_[owner] < 0
                                ? first_use_[id]
                                : std::min(first_use_[owner], first_use_[id]);
        last_use_[owner] = std::max(last_use_[owner], last_use_[id]);
        last_part_use_[owner] = std::max(last_part_use_[owner], last_use_[id]);
      }
    }
  }

  // The input whose memory output `output` may overwrite; -1 if none.
  int InPlaceInput(const PlannedNode &node, size_t output, int step) const {
    const int target = node.outputs()[output];
    if (external_[target] || parts_[target].owner >= 0) return -1;
    for (const auto &[allowed_output, input] : node.in_place) {
      if (allowed_output != output || input >= node.inputs().size()) continue;
      const int id = node.inputs()[input];
      if (id < 0 || taken_[id] || layout_.tensor_request[id] < 0 ||
          parts_[id].owner >= 0 || last_use_[id] != step ||
          last_part_use_[id] >= step ||
          plan_.tensors[id].tensor.bytes() !=
              plan_.tensors[target].tensor.bytes() ||
          !AllowedAtEveryPort(node, output, id) || IsReadByItsChain(step, id)) {
        continue;
      }
      return id;
    }
    return -1;
  }

  // Whether another operator of the chain reads rows of it between rows of this
  // operator.
  bool IsReadByItsChain(int step, int id) const {
    const BandChain *chain = layout_.ChainAt(static_cast<size_t>(step));
    if (chain == nullptr) return false;
    for (int other : chain->nodes) {
      if (other == step) continue;
      for (int input : plan_.nodes[other].inputs()) {
        if (input == id) return true;
      }
    }
    return false;
  }

  // A tensor may be read by two ports, one of which is read late.
  static bool AllowedAtEveryPort(const PlannedNode &node,
                                 size_t output,
                                 int id) {
    for (size_t port = 0; port < node.inputs().size(); ++port) {
      if (node.inputs()[port] != id) continue;
      const bool allowed =
          std::any_of(node.in_place.begin(), node.in_place.end(),
                      [output, port](const std::pair<size_t, size_t> &pair) {
                        return pair.first == output && pair.second == port;
                      });
      if (!allowed) return false;
    }
    return true;
  }

  // A tensor that fills whole pages gets one additional cache line; otherwise
  // adjacent tensors would start at the same offset in a page. Processors
  // compare the low 12 bits of a load's address with those of pending stores,
  // and wait if they are equal: a depthwise convolution of 28x28x256 took 1.4
  // times as long on Zen 5.
  static size_t Skew(int64_t bytes) {
    constexpr int64_t kPage = 4096;
    return bytes % kPage == 0 ? kMemoryAlignment : 0;
  }

  // `in_place_of`: a tensor.
  void Add(int id, int in_place_of = -1) {
    const PlannedTensor &entry = plan_.tensors[id];
    const int64_t bytes = entry.tensor.bytes();
    if (external_[id] || entry.known || bytes == 0) return;
    PlanRequest request;
    request.bytes = static_cast<size_t>(bytes) + Skew(bytes);
    request.first = first_use_[id];
    request.last = std::max(request.first, last_use_[id]);
    if (in_place_of >= 0) {
      request.in_place_of = layout_.tensor_request[in_place_of];
      taken_[in_place_of] = 1;
    }
    layout_.tensor_request[id] = static_cast<int>(layout_.requests.size());
    layout_.requests.push_back(request);
  }

  // An owner may come after its parts.
  void LinkParts() {
    for (size_t id = 0; id < parts_.size(); ++id) {
      const TensorPart &part = parts_[id];
      if (part.owner < 0) continue;
      const Tensor &tensor = plan_.tensors[id].tensor;
      PlanRequest &request = layout_.requests[layout_.tensor_request[id]];
      request.part_of = layout_.tensor_request[part.owner];
      request.part_offset = static_cast<size_t>(part.offset);
      request.run_bytes = static_cast<size_t>(part.run);
      request.stride_bytes = static_cast<size_t>(part.stride);
      request.bytes = static_cast<size_t>(tensor.bytes());
      if (part.run == tensor.bytes()) continue;
      const auto rows = static_cast<size_t>(tensor.bytes() / part.run);
      request.bytes = (rows - 1) * request.stride_bytes + request.run_bytes;
      layout_.row_stride[id] =
          part.stride / static_cast<int64_t>(DataTypeSize(tensor.data_type));
    }
  }

  const CpuPlan &plan_;
  const size_t threads_;
  const std::vector<char> external_;  // and links
  std::vector<TensorPart> parts_;
  // The steps at which the contents of a tensor, or of its parts, are first and
  // last needed; -1: before the run, and never.
  std::vector<int> first_use_;
  std::vector<int> last_use_;
  std::vector<int> last_part_use_;  // of its parts only
  std::vector<char> taken_;
  ArenaLayout layout_;
};

}  // namespace

ArenaLayout LayOutArena(const CpuPlan &plan,
                        const std::vector<char> &external,
                        std::vector<BandChain> chains,
                        int threads) {
  return LayoutMaker(plan, external, std::move(chains), threads).Make();
}

}  // namespace mace
