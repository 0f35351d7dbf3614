// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_ARENA_H_
#define MACE_CORE_ARENA_H_

#include <mutex>

#include "mace/core/aligned_memory.h"

namespace mace {

// The memory of intermediate tensors. Engines that share one (tutor and pupil)
// hold the lock while they run, so that even a run that should not be
// concurrent is only slow, not wrong.
struct Arena {
  std::mutex mutex;
  AlignedMemory memory;  // guarded by mutex
};

}  // namespace mace

#endif  // MACE_CORE_ARENA_H_
