// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Where in one block of memory each intermediate tensor lies.
//
// The problem: blocks with a size and a span of steps during which they are in
// use; two blocks whose spans touch may not overlap in memory. Finding the
// smallest arena is NP-hard. One block after the other into the tightest gap,
// in a few orders of which the best counts, meets the lower bound on most
// networks and comes within a few per cent on the others.

#ifndef MACE_CORE_MEMORY_MEMORY_PLAN_H_
#define MACE_CORE_MEMORY_MEMORY_PLAN_H_

#include <cstddef>
#include <vector>

#include "mace/core/base/status.h"

namespace mace {

// One tensor, or the scratch memory of one operator.
struct PlanRequest {
  size_t bytes = 0;
  // Steps of the run, both included, during which the contents matter.
  int first = 0;
  int last = 0;
  // Index of an earlier request whose memory this one takes over: its last
  // step is this one's first. -1 for none. No two requests take over the same.
  int in_place_of = -1;
  // Index of the request, earlier or later, that this one is a part of; -1 for
  // none. A part lies inside the other one's memory, `part_offset` bytes from
  // its start, as runs of `run_bytes`, `stride_bytes` apart; `bytes` spans all
  // of them. The other is in use at every step that the part is.
  int part_of = -1;
  size_t part_offset = 0;
  size_t run_bytes = 0;
  size_t stride_bytes = 0;

  bool operator==(const PlanRequest &other) const {
    return bytes == other.bytes && first == other.first && last == other.last &&
           in_place_of == other.in_place_of && part_of == other.part_of &&
           part_offset == other.part_offset && run_bytes == other.run_bytes &&
           stride_bytes == other.stride_bytes;
  }
};

struct MemoryPlan {
  std::vector<size_t>
      offsets;  // one per request; multiples of 64 but for parts
  size_t arena_bytes = 0;
};

// MACE_OUT_OF_RESOURCES when the sum does not fit the address space,
// MACE_INVALID_ARGS when an in_place_of or part_of breaks its rule.
Result<MemoryPlan> PlanMemory(const std::vector<PlanRequest> &requests);

// Checks a plan against the requests alone, knowing nothing of how it was
// made: alignment, bounds, and that requests in use at the same step do not
// overlap, except where one takes over the other's memory or is a part of it.
// The time is n log n, and quadratic in the parts of one request.
MaceStatus VerifyPlan(const std::vector<PlanRequest> &requests,
                      const MemoryPlan &plan);

// The most bytes (each request rounded up to 64) that are in use at one step:
// no plan can do with less.
size_t PlanLowerBound(const std::vector<PlanRequest> &requests);

}  // namespace mace

#endif  // MACE_CORE_MEMORY_MEMORY_PLAN_H_
