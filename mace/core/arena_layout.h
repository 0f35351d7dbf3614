// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_ARENA_LAYOUT_H_
#define MACE_CORE_ARENA_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "mace/core/memory_plan.h"
#include "mace/core/program.h"

namespace mace {

// What a program needs of the arena for the shapes of its last Reshape.
struct ArenaLayout {
  std::vector<PlanRequest> requests;
  // Index into requests of each tensor and of each node's scratch; -1 for what
  // does not lie in the arena.
  std::vector<int> tensor_request;
  std::vector<int> scratch_request;
  // Tensor::row_stride of each tensor.
  std::vector<int64_t> row_stride;
};

// A tensor that is copied to a part of another one (ReshapeContext::AllowPart)
// lies there from the start if every operator that touches it allows that.
//
// `external[t]`: tensor t lies in a user's buffer; it gets no place in the
// arena, and no operator may work in place on it.
ArenaLayout LayOutArena(const Program &program,
                        const std::vector<char> &external);

}  // namespace mace

#endif  // MACE_CORE_ARENA_LAYOUT_H_
