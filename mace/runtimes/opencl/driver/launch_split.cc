// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/driver/launch_split.h"
#include "mace/core/base/divide.h"

#include <algorithm>

namespace mace {
namespace {

// Runs that are measured for a set of shapes. A GPU that runs more groups at
// once than a part has needs the same time for fewer of them, so that the first
// choice may be too large.
constexpr int kMostRounds = 4;

// Of the limit, what a part is planned to take: times vary.
constexpr double kPlannedShare = 0.75;

}  // namespace

std::vector<KernelRange> SplitRange(
    const KernelRange &whole,
    size_t most,
    const std::array<size_t, 3> &most_of_dimension) {
  std::array<size_t, 3> groups = {};
  std::array<size_t, 3> part = {};
  for (size_t i = 0; i < 3; ++i) {
    groups[i] = whole.global[i] / whole.local[i];
    part[i] = std::min(groups[i], most_of_dimension[i]);
  }
  for (size_t i = 3; i-- > 0;) {
    const size_t others = part[0] * part[1] * part[2] / part[i];
    part[i] = std::min(part[i],
                       std::max<size_t>(1, std::max<size_t>(1, most) / others));
    // Equal parts, rather than many large ones and a small one.
    part[i] = DivideUp(groups[i], DivideUp(groups[i], part[i]));
  }
  std::vector<KernelRange> parts;
  std::array<size_t, 3> at = {};
  for (at[2] = 0; at[2] < groups[2]; at[2] += part[2]) {
    for (at[1] = 0; at[1] < groups[1]; at[1] += part[1]) {
      for (at[0] = 0; at[0] < groups[0]; at[0] += part[0]) {
        KernelRange range = whole;
        for (size_t i = 0; i < 3; ++i) {
          range.offset[i] += at[i] * whole.local[i];
          range.global[i] =
              std::min(part[i], groups[i] - at[i]) * whole.local[i];
        }
        parts.push_back(range);
      }
    }
  }
  return parts;
}

PartSize::PartSize(size_t groups, double nanos, double limit_nanos)
    : whole_(groups), part_(groups), limit_(limit_nanos) {
  if (nanos <= limit_nanos) return;
  const double share = kPlannedShare * limit_nanos / nanos;
  part_ = std::max<size_t>(
      1, static_cast<size_t>(share * static_cast<double>(groups)));
}

void PartSize::Measured(size_t groups, double nanos) {
  longest_ = std::max(longest_, nanos);
  per_group_ = std::max(per_group_, nanos / static_cast<double>(groups));
}

void PartSize::Settle() {
  if (!open_) return;
  ++rounds_;
  const bool fits = longest_ <= limit_;
  const double wanted = kPlannedShare * limit_ / std::max(per_group_, 1e-3);
  size_t chosen = whole_;
  if (wanted < static_cast<double>(whole_)) {
    chosen = std::max<size_t>(1, static_cast<size_t>(wanted));
  }
  if (fits) {
    // Only the estimate was made without a measurement, and may be too small.
    if (rounds_ == 1) part_ = std::max(part_, chosen);
    open_ = false;
  } else {
    open_ = part_ > 1 && rounds_ < kMostRounds;
    part_ = std::min(chosen, std::max<size_t>(1, part_ - 1));
  }
  longest_ = 0;
  per_group_ = 0;
}

}  // namespace mace
