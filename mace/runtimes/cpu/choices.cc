// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// What a choice does not take is not run (loops.h).
//
// A node has a guard for each condition on which all its readers depend: those
// of its readers in common, where a reader that chooses has its own condition
// besides at the two inputs between which it chooses. So if the guards of a
// reader hold, those of what it reads hold, too, and everything that is read
// was computed: in the same round, if they are in a loop.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "mace/core/graph/graph.h"
#include "mace/runtimes/cpu/cpu_plan.h"
#include "mace/runtimes/cpu/loops.h"

namespace mace {
namespace {

// As in CpuPlan::guards, in increasing order.
using Guards = std::vector<int>;

// The ports of a choice.
constexpr size_t kCondition = 0;
constexpr size_t kIfTrue = 1;
constexpr size_t kIfFalse = 2;

Guards With(Guards guards, int guard) {
  const auto at = std::lower_bound(guards.begin(), guards.end(), guard);
  if (at == guards.end() || *at != guard) guards.insert(at, guard);
  return guards;
}

class ChoiceFinder {
 public:
  ChoiceFinder(const Graph &graph, CpuPlan *plan)
      : graph_(graph), plan_(*plan), nodes_(*plan->nodes_of) {}

  void Find() {
    bool any = false;
    for (const PlannedNode &node : plan_.nodes) any = any || IsChoice(node);
    if (!any) return;
    FindNeeds();
    KeepComputedOnes();
    Store();
  }

 private:
  struct Need {
    bool read = false;
    Guards guards;  // of all readers in common
  };

  bool IsChoice(const PlannedNode &node) const {
    const int index = node.node->graph_node;
    if (node.known || index < 0 || node.inputs().size() <= kIfFalse ||
        graph_.nodes()[static_cast<size_t>(index)].schema->control !=
            ControlFlow::kChoice) {
      return false;
    }
    const PlannedTensor *condition =
        TensorAt(plan_.tensors, node.inputs(), kCondition);
    return condition != nullptr && condition->tensor.elements() == 1;
  }

  static void Join(const Guards &guards, Need *need) {
    if (!std::exchange(need->read, true)) {
      need->guards = guards;
      return;
    }
    Guards common;
    std::set_intersection(need->guards.begin(), need->guards.end(),
                          guards.begin(), guards.end(),
                          std::back_inserter(common));
    need->guards = std::move(common);
  }

  // Readers come after what they read.
  void FindNeeds() {
    std::vector<Need> needs(plan_.tensors.size());
    wanted_.resize(plan_.nodes.size());
    for (size_t i = plan_.nodes.size(); i-- > 0;) {
      const PlannedNode &node = plan_.nodes[i];
      if (node.known) continue;
      Need need;
      for (int id : node.outputs()) {
        if (id < 0) continue;
        if (plan_.tensors[id].exported) Join(Guards(), &need);
        if (needs[id].read) Join(needs[id].guards, &need);
      }
      const bool is_choice = IsChoice(node);
      for (size_t port = 0; port < node.inputs().size(); ++port) {
        const int id = node.inputs()[port];
        if (id < 0) continue;
        if (is_choice && (port == kIfTrue || port == kIfFalse)) {
          const int guard =
              2 * node.inputs()[kCondition] + (port == kIfTrue ? 1 : 0);
          Join(With(need.guards, guard), &needs[id]);
        } else {
          Join(need.guards, &needs[id]);
        }
      }
      wanted_[i] = std::move(need.guards);
    }
  }

  // The step after which each condition is known; -1: before the run.
  std::vector<int> StepsOfConditions() const {
    std::vector<int> steps(plan_.tensors.size(), -1);
    for (const PartitionSpec::Border &border : nodes_.imports) {
      steps[border.tensor] =
          static_cast<int>(nodes_.SegmentBegin(border.segment)) - 1;
    }
    for (size_t i = 0; i < plan_.nodes.size(); ++i) {
      if (plan_.nodes[i].known) continue;
      for (int id : plan_.nodes[i].outputs()) {
        if (id >= 0) steps[id] = static_cast<int>(i);
      }
    }
    return steps;
  }

  // A condition has fewer guards than what it guards: with earlier conditions
  // first, none is read that was not computed.
  void KeepComputedOnes() {
    const std::vector<int> steps = StepsOfConditions();
    for (size_t i = 0; i < wanted_.size(); ++i) {
      Guards &guards = wanted_[i];
      guards.erase(std::remove_if(guards.begin(), guards.end(),
                                  [&](int guard) {
                                    return steps[guard / 2] >=
                                           static_cast<int>(i);
                                  }),
                   guards.end());
      std::sort(guards.begin(), guards.end(), [&](int a, int b) {
        return std::make_pair(steps[a / 2], a) <
               std::make_pair(steps[b / 2], b);
      });
    }
    for (const CpuLoop &loop : nodes_.loops) {
      wanted_[loop.second] = wanted_[loop.first];
    }
  }

  void Store() {
    std::vector<int> &stored = plan_.guards;
    stored.assign(wanted_.size(), 0);
    for (size_t i = 0; i < wanted_.size(); ++i) {
      if (wanted_[i].empty()) continue;
      stored[i] = static_cast<int>(stored.size());
      stored.insert(stored.end(), wanted_[i].begin(), wanted_[i].end());
      stored.push_back(-1);
    }
    if (stored.size() == wanted_.size()) stored.clear();
  }

  const Graph &graph_;
  CpuPlan &plan_;
  const CpuNodes &nodes_;
  std::vector<Guards> wanted_;  // per node
};

bool Runs(const CpuPlan &plan, size_t step) {
  const int place = plan.guards[step];
  if (place == 0) return true;
  for (const int *at = &plan.guards[static_cast<size_t>(place)]; *at >= 0;
       ++at) {
    const Tensor &condition = plan.tensors[static_cast<size_t>(*at / 2)].tensor;
    if ((*condition.As<uint8_t>() != 0) != (*at % 2 != 0)) return false;
  }
  return true;
}

}  // namespace

void FindChoices(const Graph &graph, CpuPlan *plan) {
  ChoiceFinder(graph, plan).Find();
}

size_t SkipUntaken(const CpuPlan &plan, size_t step, size_t end) {
  while (step < end && !Runs(plan, step)) ++step;
  return step;
}

}  // namespace mace
