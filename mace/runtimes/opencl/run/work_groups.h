// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The size of the work groups of a launch that leaves it to the runtime.

#ifndef MACE_RUNTIMES_OPENCL_RUN_WORK_GROUPS_H_
#define MACE_RUNTIMES_OPENCL_RUN_WORK_GROUPS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mace {

using WorkGroup = std::array<int64_t, 3>;

struct WorkGroupLimits {
  size_t items = 1;  // of a work group, for the kernel
  std::array<size_t, 3> sizes = {1, 1, 1};
};

bool Fits(const WorkGroup &group, const WorkGroupLimits &limits);

// Powers of two that fit the number of work items; the third divides it.
WorkGroup GuessWorkGroup(const WorkGroup &items, const WorkGroupLimits &limits);

// That, and other sizes that may be faster: at most 24, each once. All are
// within the limits, and the third divides the number of items.
std::vector<WorkGroup> CandidateWorkGroups(const WorkGroup &items,
                                           const WorkGroupLimits &limits);

// "16x4x1"
std::string WorkGroupText(const WorkGroup &group);

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_RUN_WORK_GROUPS_H_
