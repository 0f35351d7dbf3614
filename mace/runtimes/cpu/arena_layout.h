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

// The memory that a plan needs in the arena.
struct ArenaLayout {
  std::vector<PlanRequest> requests;
  std::vector<BandChain> chains;
  std::vector<int> chain_of;  // per node: index into chains, or -1
  // Index into requests of each tensor and of each node's scratch; the last
  // node of a chain has the scratch of the chain. -1 for what is not in the
  // arena.
  std::vector<int> tensor_request;
  std::vector<int> scratch_request;
  // Tensor::row_stride of each tensor.
  std::vector<int64_t> row_stride;

  // The chain that contains a node; null if none does.
  const BandChain *ChainAt(size_t node) const {
    return chain_of[node] < 0 ? nullptr : &chains[chain_of[node]];
  }
};

// A tensor that would be copied to a part of another one
// (PlanContext::AllowPart) is computed there directly if every operator that
// reads or writes it allows that.
//
// `external[t]`: tensor t is in a caller's buffer; it gets no memory in the
// arena, and no operator may compute in place on it. `chains` are those of this
// plan for `threads` threads.
ArenaLayout LayOutArena(const CpuPlan &plan,
                        const std::vector<char> &external,
                        std::vector<BandChain> chains,
                        int threads);

}  // namespace mace

#endif  // MACE_RUNTIMES_CPU_ARENA_LAYOUT_H_
