// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/plan/float_tensors.h"

#include <cstddef>
#include <cstdint>

namespace mace {
namespace {

using Result = NumberRange::Result;

class FloatSearch {
 public:
  FloatSearch(const Graph &graph,
              const GraphShapes &shapes,
              const std::vector<NumberRange> &ranges)
      : graph_(graph),
        shapes_(shapes),
        ranges_(ranges),
        squares_(graph.tensors().size(), 0),
        large_(graph.tensors().size(), 0),
        matter_(graph.tensors().size(), 0) {}

  std::vector<char> Find() {
    const size_t count = graph_.nodes().size();
    for (size_t i = 0; i < count; ++i) FindSources(i);
    for (size_t i = count; i-- > 0;) FindUses(i);
    std::vector<char> floats = matter_;
    for (size_t i = 0; i < floats.size(); ++i) floats[i] |= large_[i];
    return floats;
  }

 private:
  bool IsComputed(int id) const {
    if (id < 0) return false;
    const Tensor &tensor = shapes_.tensors[static_cast<size_t>(id)];
    return tensor.data == nullptr && tensor.data_type == DataType::kFloat32;
  }

  // What becomes of the results of an operator, from those of its inputs.
  void FindSources(size_t index) {
    const GraphNode &node = graph_.nodes()[index];
    const NumberRange &range = ranges_[index];
    size_t computed = 0;
    size_t of_squares = 0;
    bool large = false;
    for (int id : node.inputs) {
      if (!IsComputed(id)) continue;
      ++computed;
      if (squares_[id] != 0) ++of_squares;
      if (large_[id] != 0) large = true;
    }
    const bool passes =
        range.result == Result::kElements || range.result == Result::kSums;
    const bool adds = passes || range.result == Result::kLinear;
    const bool squares = range.result == Result::kSquares ||
                         (adds && computed > 0 && of_squares == computed) ||
                         (range.result == Result::kProducts && of_squares > 0);
    for (int id : node.outputs) {
      if (!IsComputed(id)) continue;
      squares_[id] = squares ? 1 : 0;
      large_[id] = range.large || (passes && large) ? 1 : 0;
    }
  }

  // Which inputs matter, from which outputs do.
  void FindUses(size_t index) {
    const GraphNode &node = graph_.nodes()[index];
    const NumberRange &range = ranges_[index];
    bool matters = false;
    for (int id : node.outputs) {
      if (id >= 0 && matter_[id] != 0) matters = true;
    }
    for (size_t port = 0; port < node.inputs.size(); ++port) {
      const int id = node.inputs[port];
      if (!IsComputed(id)) continue;
      const bool squares = squares_[id] != 0;
      const auto has = [port](uint32_t ports) {
        return port < 32 && (ports >> port & 1) != 0;
      };
      const bool begins =
          range.result == Result::kOwn || range.result == Result::kSquares;
      const bool passes =
          range.result == Result::kElements || (squares && !begins);
      if (has(range.sensitive) ||
          (squares && has(range.sensitive_to_squares)) || (matters && passes)) {
        matter_[id] = 1;
      }
    }
  }

  const Graph &graph_;
  const GraphShapes &shapes_;
  const std::vector<NumberRange> &ranges_;
  // Per tensor.
  std::vector<char> squares_;  // or exponentials, or sums of them
  std::vector<char> large_;
  std::vector<char> matter_;
};

}  // namespace

std::vector<char> FloatTensors(const Graph &graph,
                               const GraphShapes &shapes,
                               const std::vector<NumberRange> &ranges) {
  return FloatSearch(graph, shapes, ranges).Find();
}

}  // namespace mace
