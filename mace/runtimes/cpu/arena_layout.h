// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_RUNTIMES_CPU_ARENA_LAYOUT_H_
#define MACE_RUNTIMES_CPU_ARENA_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "mace/core/memory/memory_plan.h"
#include "mace/runtimes/cpu/band_chains.h"
#include "mace/runtimes/cpu/cpu_plan.h"

namespace mace {

// What a plan needs of the arena.
struct ArenaLayout {
  std::vector<PlanRequest> requests;
  std::vector<BandChain> chains;
  std::vector<int> chain_of;  // per node: index into chains, or -1
  // Index into requests of each tensor and of each node's scratch, which is
  // that of its chain if it is the last one; -1 for what does not lie in the
  // arena.
  std::vector<int> tensor_request;
  std::vector<int> scratch_request;
  // Tensor::row_stride of each tensor.
  std::vector<int64_t> row_stride;

  // The chain that a node is of; null if none.
  const BandChain *ChainAt(size_t node) const {
    return chain_of[node] < 0 ? nullptr : &chains[chain_of[node]];
  }
};

// A tensor that is copied to a part of another one (PlanContext::AllowPart)
// lies there from the start if every operator that touches it allows that.
//
// `external[t]`: tensor t lies in a user's buffer; it gets no place in the
// arena, and no operator may work in place on it. `chains` are of this plan
// and for `threads` threads.
ArenaLayout LayOutArena(const CpuPlan &plan,
                        const std::vector<char> &external,
                        std::vector<BandChain> chains,
                        int threads);

}  // namespace mace

#endif  // MACE_RUNTIMES_CPU_ARENA_LAYOUT_H_
