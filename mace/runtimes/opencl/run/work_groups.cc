// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/run/work_groups.h"

#include <algorithm>

#include "mace/core/base/status.h"

namespace mace {
namespace {

constexpr int64_t kGuessedItems = 64;

int64_t Product(const WorkGroup &group) {
  return group[0] * group[1] * group[2];
}

int64_t PowerOfTwoFrom(int64_t items) {
  int64_t power = 1;
  while (power < items) power *= 2;
  return power;
}

}  // namespace

bool Fits(const WorkGroup &group, const WorkGroupLimits &limits) {
  for (size_t i = 0; i < 3; ++i) {
    if (static_cast<size_t>(group[i]) > limits.sizes[i]) return false;
  }
  return static_cast<size_t>(Product(group)) <= limits.items;
}

WorkGroup GuessWorkGroup(const WorkGroup &items,
                         const WorkGroupLimits &limits) {
  WorkGroup group = {1, 1, 1};
  int64_t left = kGuessedItems;
  for (size_t i = 0; i < 3; ++i) {
    while (group[i] < items[i] && left > 1 &&
           static_cast<size_t>(2 * group[i]) <= limits.sizes[i] &&
           (i < 2 || items[i] % (2 * group[i]) == 0)) {
      group[i] *= 2;
      left /= 2;
    }
  }
  while (static_cast<size_t>(Product(group)) > limits.items) {
    *std::max_element(group.begin(), group.end()) /= 2;
  }
  return group;
}

std::vector<WorkGroup> CandidateWorkGroups(const WorkGroup &items,
                                           const WorkGroupLimits &limits) {
  constexpr size_t kMost = 24;
  std::vector<WorkGroup> groups = {GuessWorkGroup(items, limits)};
  const auto add = [&](const WorkGroup &group) {
    if (groups.size() < kMost && Fits(group, limits) &&
        std::find(groups.begin(), groups.end(), group) == groups.end()) {
      groups.push_back(group);
    }
  };
  // Steps of 4: neighbouring sizes differ little, and each is compiled by some
  // drivers.
  for (int64_t total : {64, 128, 32, 256}) {
    for (int64_t z : {1, 4}) {
      if (items[2] % z != 0) continue;
      int64_t x = std::min(total / z, PowerOfTwoFrom(items[0]));
      for (; x >= 1; x /= 4) {
        const int64_t y = std::min(total / z / x, PowerOfTwoFrom(items[1]));
        // Smaller ones are found with a smaller total.
        if (2 * x * y * z > total) add({x, y, z});
      }
    }
  }
  return groups;
}

std::string WorkGroupText(const WorkGroup &group) {
  return MakeString(group[0], "x", group[1], "x", group[2]);
}

}  // namespace mace
