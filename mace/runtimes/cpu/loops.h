// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Loops: the operators from a LoopPart::kBegin to its kEnd (mace/ops/loop says
// what the two compute) run as often as the run decides. Everything here but
// CpuLoop is linked along with these operators: null in a library without them,
// where no partition has loops.

#ifndef MACE_RUNTIMES_CPU_LOOPS_H_
#define MACE_RUNTIMES_CPU_LOOPS_H_

#include <cstddef>
#include <vector>

#include "mace/core/base/status.h"

namespace mace {

class Graph;
struct CpuNodes;
struct CpuPlan;

// Nodes of a partition, in the order of execution; the others of the loop are
// between them.
struct CpuLoop {
  size_t begin;
  size_t end;
};

// Sets CpuNodes::loops. Moves conversions that the partition added
// out of the loops that do not make what they convert. MACE_INVALID_ARGS if the
// loops are not nested, if the end of a loop does not read the values of its
// beginning, or if an operator outside, or the application, reads what is
// computed inside.
__attribute__((weak, visibility("hidden"))) MaceStatus
FindLoops(const Graph &graph, CpuNodes *nodes);

// What was computed before a loop that reads it is needed until the loop ends:
// moves the last step that needs it there. `last_use`: per tensor.
__attribute__((weak, visibility("hidden"))) void ExtendLives(
    const CpuPlan &plan, std::vector<int> *last_use);

// The step that follows `step`, which has run. For another round of a loop,
// hands its results on to its states.
__attribute__((weak, visibility("hidden"))) size_t NextStep(CpuPlan *plan,
                                                            size_t step);

}  // namespace mace

#endif  // MACE_RUNTIMES_CPU_LOOPS_H_
