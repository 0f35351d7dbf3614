// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/cpu/loops.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "mace/core/graph/graph.h"
#include "mace/core/graph/placement.h"
#include "mace/runtimes/cpu/cpu_plan.h"
#include "mace/runtimes/cpu/storage_types.h"

namespace mace {
namespace {

// The ports of mace/ops/loop. Its operators are known here by what their
// declarations say of them, and their first ports are the same.
constexpr size_t kEnters = 0;
constexpr size_t kStep = 1;
constexpr size_t kEndValues = 4;
constexpr size_t kBeginStates = 2;
constexpr size_t kMore = 0;
constexpr size_t kResults = 1;

const Tensor &TensorOf(const CpuPlan &plan, int id) {
  return plan.tensors[static_cast<size_t>(id)].tensor;
}
bool IsTrue(const CpuPlan &plan, int id) {
  return *TensorOf(plan, id).As<bool>();
}

ControlFlow PartOf(const Graph &graph, int node) {
  return node < 0 ? ControlFlow::kNone
                  : graph.nodes()[static_cast<size_t>(node)].schema->control;
}

// Pairs of nodes that begin and end a loop, innermost loops first. `part_of`
// says which part the node of an index is.
template <typename PartOfNode>
MaceStatus PairLoops(size_t count,
                     const PartOfNode &part_of,
                     std::vector<CpuLoop> *loops) {
  std::vector<size_t> open;
  for (size_t i = 0; i < count; ++i) {
    const ControlFlow part = part_of(i);
    if (part == ControlFlow::kLoopBegin) open.push_back(i);
    if (part != ControlFlow::kLoopEnd) continue;
    if (open.empty()) {
      return InvalidArgs("a loop ends that has not begun");
    }
    loops->push_back({open.back(), i});
    open.pop_back();
  }
  if (open.empty()) return MaceStatus();
  return InvalidArgs("a loop begins that does not end");
}

// The node that computes each tensor; -1 for none.
std::vector<int> MakersOf(const CpuNodes &nodes) {
  std::vector<int> made(nodes.tensor_count(), -1);
  for (size_t i = 0; i < nodes.nodes.size(); ++i) {
    for (int id : nodes.nodes[i].outputs) {
      if (id >= 0) made[static_cast<size_t>(id)] = static_cast<int>(i);
    }
  }
  return made;
}

class LoopFinder {
 public:
  LoopFinder(const Graph &graph, CpuNodes *nodes)
      : graph_(graph), nodes_(*nodes) {}

  MaceStatus Find() {
    MACE_RETURN_IF_ERROR(Pair());
    if (nodes_.loops.empty()) return MaceStatus();
    while (MoveConversion()) MACE_RETURN_IF_ERROR(Pair());
    for (const CpuLoop &loop : nodes_.loops) {
      const CpuNode &end = nodes_.nodes[loop.second];
      MACE_RETURN_IF_ERROR(AtOperator(*end.def, CheckEnd(loop)));
      MACE_RETURN_IF_ERROR(AtOperator(*end.def, CheckInside(loop)));
    }
    return MaceStatus();
  }

 private:
  MaceStatus Pair() {
    nodes_.loops.clear();
    return PairLoops(
        nodes_.nodes.size(),
        [this](size_t i) { return PartOf(graph_, nodes_.nodes[i].graph_node); },
        &nodes_.loops);
  }

  // A conversion stands before its first reader, which may be inside. Moves one
  // out of its loop; false if none is left.
  bool MoveConversion() {
    const std::vector<int> made = MakersOf(nodes_);
    for (const CpuLoop &loop : nodes_.loops) {
      for (size_t i = loop.first + 1; i < loop.second; ++i) {
        const CpuNode &node = nodes_.nodes[i];
        if (node.graph_node >= 0 ||
            made[node.inputs[0]] >= static_cast<int>(loop.first)) {
          continue;
        }
        const auto nodes = nodes_.nodes.begin();
        std::rotate(nodes + static_cast<ptrdiff_t>(loop.first),
                    nodes + static_cast<ptrdiff_t>(i),
                    nodes + static_cast<ptrdiff_t>(i) + 1);
        return true;
      }
    }
    return false;
  }

  MaceStatus CheckEnd(const CpuLoop &loop) const {
    const std::vector<int> &begin = nodes_.nodes[loop.first].outputs;
    const std::vector<int> &end = nodes_.nodes[loop.second].inputs;
    const size_t states = begin.size() - kBeginStates;
    // Its shape function has compared as many values as its attribute says.
    const AttributeValue *count =
        nodes_.nodes[loop.second].def->FindAttribute("states");
    bool same = begin.size() > kBeginStates && count != nullptr &&
                count->i == static_cast<int64_t>(states) &&
                end.size() >= kEndValues + states &&
                begin[kEnters] == end[kEnters] && begin[kStep] == end[kStep] &&
                begin[kEnters] >= 0 && begin[kStep] >= 0;
    const std::vector<int> &results = nodes_.nodes[loop.second].outputs;
    same = same && results.size() >= kResults + states && results[kMore] >= 0;
    for (size_t i = 0; same && i < states; ++i) {
      same = begin[kBeginStates + i] >= 0 && results[kResults + i] >= 0 &&
             begin[kBeginStates + i] == end[kEndValues + i];
    }
    if (same) return MaceStatus();
    return InvalidArgs("it does not read the values of '",
                       nodes_.nodes[loop.first].def->name,
                       "', which begins the loop");
  }

  MaceStatus CheckInside(const CpuLoop &loop) const {
    std::vector<char> inside(nodes_.tensor_count(), 0);
    for (size_t i = loop.first; i < loop.second; ++i) {
      for (int id : nodes_.nodes[i].outputs) {
        if (id >= 0) inside[id] = 1;
      }
    }
    for (size_t i = 0; i < nodes_.nodes.size(); ++i) {
      if (i >= loop.first && i <= loop.second) continue;
      for (int id : nodes_.nodes[i].inputs) {
        if (id >= 0 && inside[id] != 0) {
          return InvalidArgs("operator '", nodes_.nodes[i].def->name,
                             "' reads what is computed inside of the loop");
        }
      }
    }
    for (const PartitionSpec::Border &border : nodes_.exports) {
      const int id = nodes_.export_of[border.tensor];
      if (inside[id] != 0 || inside[border.tensor] != 0) {
        return InvalidArgs("'", graph_.tensors()[border.tensor].tensor.name,
                           "' is computed inside of the loop and read outside");
      }
    }
    return MaceStatus();
  }

  const Graph &graph_;
  CpuNodes &nodes_;
};

}  // namespace

void PlaceLoopsOnHost(const Graph &graph, size_t host, Placement *placement) {
  int depth = 0;
  for (size_t i = 0; i < placement->nodes.size(); ++i) {
    const ControlFlow part = PartOf(graph, static_cast<int>(i));
    if (part == ControlFlow::kLoopBegin) ++depth;
    Placement::NodePlace &place = placement->nodes[i];
    if (depth > 0 && place.device != host) {
      place.refusals.push_back({place.device, "it is in a loop"});
      place.device = host;
      place.nanos = 0;  // compared with those of no other device
    }
    if (part == ControlFlow::kLoopEnd) --depth;
  }
}

void WaitBeforeLoops(const Graph &graph,
                     const std::vector<int> &producer,
                     std::vector<int> *missing,
                     std::vector<std::vector<int>> *readers) {
  std::vector<CpuLoop> loops;
  const MaceStatus status = PairLoops(
      graph.nodes().size(),
      [&graph](size_t i) { return PartOf(graph, static_cast<int>(i)); },
      &loops);
  if (!IsOk(status)) return;  // LoopFinder says so
  for (const CpuLoop &loop : loops) {
    for (size_t i = loop.first + 1; i <= loop.second; ++i) {
      for (int id : graph.nodes()[i].inputs) {
        if (id < 0) continue;
        const int maker = producer[static_cast<size_t>(id)];
        if (maker < 0 || static_cast<size_t>(maker) >= loop.first) continue;
        ++(*missing)[loop.first];
        (*readers)[static_cast<size_t>(maker)].push_back(
            static_cast<int>(loop.first));
      }
    }
  }
}

MaceStatus ChooseTypesAndFindLoops(const Graph &graph,
                                   const MakeAddedOp &make_op,
                                   CpuNodes *nodes) {
  MACE_RETURN_IF_ERROR(ChooseStorageTypes(graph, make_op, nodes));
  return LoopFinder(graph, nodes).Find();
}

void ExtendLives(const CpuPlan &plan,
                 std::vector<int> *first_use,
                 std::vector<int> *last_use) {
  const std::vector<int> made = MakersOf(*plan.nodes_of);
  for (const CpuLoop &loop : plan.nodes_of->loops) {
    const auto begin = static_cast<int>(loop.first);
    const auto end = static_cast<int>(loop.second);
    const std::vector<int> &results = plan.nodes_of->nodes[loop.second].outputs;
    const size_t states =
        plan.nodes_of->nodes[loop.first].outputs.size() - kBeginStates;
    for (size_t i = kResults + states; i < results.size(); ++i) {
      if (results[i] >= 0) (*first_use)[results[i]] = begin;
    }
    for (size_t id = 0; id < made.size(); ++id) {
      int &last = (*last_use)[id];
      if (made[id] < begin && last > begin && last < end) last = end;
    }
  }
}

size_t NextStep(CpuPlan *plan, size_t step) {
  for (const CpuLoop &loop : plan->nodes_of->loops) {
    const PlannedNode &begin = plan->nodes[loop.first];
    if (step == loop.first) {
      return IsTrue(*plan, begin.outputs()[kEnters]) ? step + 1 : loop.second;
    }
    if (step != loop.second) continue;
    const PlannedNode &end = plan->nodes[loop.second];
    if (!IsTrue(*plan, end.outputs()[kMore])) return step + 1;
    for (size_t i = 0; i + kBeginStates < begin.outputs().size(); ++i) {
      const Tensor &from = TensorOf(*plan, end.outputs()[kResults + i]);
      const Tensor &to = TensorOf(*plan, begin.outputs()[kBeginStates + i]);
      if (to.elements() == 0) continue;
      std::memcpy(to.data, from.data, static_cast<size_t>(to.bytes()));
    }
    ++*static_cast<int32_t *>(TensorOf(*plan, begin.outputs()[kStep]).data);
    return loop.first + 1;
  }
  return step + 1;
}

}  // namespace mace
