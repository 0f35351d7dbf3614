// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Loops: the operators from a ControlFlow::kLoopBegin to its kLoopEnd
// (mace/ops/loop says what the two compute) run as often as the run decides.
// Choices: what only the side of a ControlFlow::kChoice needs that its
// condition does not take is not run. Everything here but CpuLoop is linked
// along with these operators (loops.cc, choices.cc): null in a library without
// them, where no partition has loops or choices.

#ifndef MACE_RUNTIMES_CPU_LOOPS_H_
#define MACE_RUNTIMES_CPU_LOOPS_H_

#include <cstddef>
#include <utility>
#include <vector>

namespace mace {

class Graph;
struct CpuPlan;

// The nodes of a partition that begin and end a loop; the others of the loop
// are between them in the order of execution.
using CpuLoop = std::pair<size_t, size_t>;

// What was computed before a loop that reads it is needed until the loop ends:
// moves the last step that needs it there. What a loop collects is written in
// each round: moves its first step to where the loop begins. Both are per
// tensor.
__attribute__((weak, visibility("hidden"))) void ExtendLives(
    const CpuPlan &plan,
    std::vector<int> *first_use,
    std::vector<int> *last_use);

// The step that follows `step`, which has run. For another round of a loop,
// hands its results on to its states.
__attribute__((weak, visibility("hidden"))) size_t NextStep(CpuPlan *plan,
                                                            size_t step);

// Sets CpuPlan::guards. The conditions are computed before what depends on them
// as far as the order of the nodes has it so.
__attribute__((weak, visibility("hidden"))) void FindChoices(const Graph &graph,
                                                             CpuPlan *plan);

// The first step from `step` on that runs, if steps before it have run; `end`
// if there is none before it.
__attribute__((weak, visibility("hidden"))) size_t
SkipUntaken(const CpuPlan &plan, size_t step, size_t end);

}  // namespace mace

#endif  // MACE_RUNTIMES_CPU_LOOPS_H_
