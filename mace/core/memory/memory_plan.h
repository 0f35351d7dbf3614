// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Plans the offset of each intermediate tensor in one block of memory.
//
// Each tensor has a size and a span of steps during which it is in use; two
// tensors whose spans overlap must not overlap in memory. Finding the smallest
// arena is NP-hard. The planner places one tensor after the other into the
// smallest gap that fits, tries a few orders and keeps the best plan. This
// reaches the lower bound on most networks and comes within a few per cent of
// it on the others.

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
  // Index of an earlier request whose memory this request reuses in place; the
  // earlier request's last step is this request's first. -1 for none. Two
  // requests cannot reuse the same one.
  int in_place_of = -1;
  // Index of the request, earlier or later, of which this request is a part
  // (its owner); -1 for none. A part is inside the owner's memory,
  // `part_offset` bytes from its start, in runs of `run_bytes` that start
  // `stride_bytes` apart; `bytes` spans all runs. The owner is in use whenever
  // the part is.
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
      offsets;  // one per request; multiples of 64 except for parts
  size_t arena_bytes = 0;
};

// MACE_OUT_OF_RESOURCES if the sum does not fit the address space,
// MACE_INVALID_ARGS if an in_place_of or part_of breaks its rules.
Result<MemoryPlan> PlanMemory(const std::vector<PlanRequest> &requests);

// Checks a plan against the requests, independently of the planner: alignment,
// bounds, and that requests in use at the same step do not overlap, except
// where one reuses the other's memory in place or is a part of it. The time is
// O(n log n), and quadratic in the number of parts of one request.
MaceStatus VerifyPlan(const std::vector<PlanRequest> &requests,
                      const MemoryPlan &plan);

// The largest number of bytes (each request rounded up to 64) that are in use
// at one step: no plan can be smaller.
size_t PlanLowerBound(const std::vector<PlanRequest> &requests);

}  // namespace mace

#endif  // MACE_CORE_MEMORY_MEMORY_PLAN_H_
