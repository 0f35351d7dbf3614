// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/driver/launch_split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace mace {
namespace {

constexpr std::array<size_t, 3> kAny = {SIZE_MAX, SIZE_MAX, SIZE_MAX};

KernelRange Range(const std::array<size_t, 3> &groups,
                  const std::array<size_t, 3> &local) {
  KernelRange range;
  range.local = local;
  for (size_t i = 0; i < 3; ++i) range.global[i] = groups[i] * local[i];
  return range;
}

// Every work group of `whole` is in one of the parts, and in one only.
void ExpectEachGroupOnce(const KernelRange &whole,
                         const std::vector<KernelRange> &parts) {
  std::set<std::array<size_t, 3>> seen;
  size_t count = 0;
  for (const KernelRange &part : parts) {
    EXPECT_EQ(part.local, whole.local);
    for (size_t z = 0; z < part.global[2]; z += part.local[2]) {
      for (size_t y = 0; y < part.global[1]; y += part.local[1]) {
        for (size_t x = 0; x < part.global[0]; x += part.local[0]) {
          const std::array<size_t, 3> at = {
              part.offset[0] + x, part.offset[1] + y, part.offset[2] + z};
          for (size_t i = 0; i < 3; ++i) {
            EXPECT_EQ(at[i] % part.local[i], 0u);
            EXPECT_LT(at[i], whole.global[i]);
          }
          seen.insert(at);
          ++count;
        }
      }
    }
  }
  EXPECT_EQ(count, whole.groups());
  EXPECT_EQ(seen.size(), whole.groups());
}

TEST(LaunchSplit, KeepsALaunchThatIsSmallEnough) {
  const KernelRange whole = Range({3, 5, 7}, {4, 2, 1});
  const auto parts = SplitRange(whole, 105, kAny);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].global, whole.global);
  EXPECT_EQ(parts[0].offset, whole.offset);
}

TEST(LaunchSplit, RunsEveryGroupOnce) {
  for (const std::array<size_t, 3> &groups : {std::array<size_t, 3>{1, 1, 1},
                                              {7, 1, 1},
                                              {1, 13, 1},
                                              {1, 1, 17},
                                              {3, 5, 7},
                                              {8, 4, 2},
                                              {31, 2, 3}}) {
    const KernelRange whole = Range(groups, {4, 2, 1});
    for (size_t most : {1u, 2u, 3u, 5u, 10u, 11u, 100u}) {
      SCOPED_TRACE(testing::Message() << groups[0] << " x " << groups[1]
                                      << " x " << groups[2] << " by " << most);
      const auto parts = SplitRange(whole, most, kAny);
      ExpectEachGroupOnce(whole, parts);
      for (const KernelRange &part : parts) EXPECT_LE(part.groups(), most);
    }
  }
}

TEST(LaunchSplit, KeepsTheLimitOfEachDimension) {
  const KernelRange whole = Range({10, 9, 8}, {1, 2, 3});
  const auto parts = SplitRange(whole, SIZE_MAX, {10, 4, 3});
  ExpectEachGroupOnce(whole, parts);
  EXPECT_EQ(parts.size(), 3u * 3u);
  for (const KernelRange &part : parts) {
    EXPECT_LE(part.global[1] / 2, 4u);
    EXPECT_LE(part.global[2] / 3, 3u);
  }
}

TEST(LaunchSplit, DividesTheThirdDimensionFirst) {
  const auto parts = SplitRange(Range({6, 5, 4}, {8, 8, 1}), 60, kAny);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[1].global, (std::array<size_t, 3>{48, 40, 2}));
  EXPECT_EQ(parts[1].offset, (std::array<size_t, 3>{0, 0, 2}));
}

// The longest part, of a GPU that runs `at_once` groups in `nanos`.
double Longest(size_t whole, size_t part, size_t at_once, double nanos) {
  const size_t groups = std::min(whole, part);
  return static_cast<double>((groups + at_once - 1) / at_once) * nanos;
}

// Measures until the size is settled, and returns the number of runs.
int Measure(size_t whole, size_t at_once, double nanos, PartSize *size) {
  int runs = 0;
  while (size->is_open() && runs < 100) {
    for (size_t done = 0; done < whole; done += size->groups()) {
      const size_t groups = std::min(size->groups(), whole - done);
      size->Measured(groups, Longest(whole, groups, at_once, nanos));
    }
    size->Settle();
    ++runs;
  }
  return runs;
}

TEST(PartSize, KeepsAKernelThatIsShortEnoughWhole) {
  PartSize size(1000, 0, 1e6);
  EXPECT_EQ(Measure(1000, 1, 900, &size), 1);
  EXPECT_EQ(size.groups(), 1000u);
}

TEST(PartSize, StaysWithinTheLimit) {
  for (size_t at_once : {1u, 16u, 64u}) {
    for (double nanos : {1e3, 1e4, 1e5}) {
      for (double estimate : {0.0, 1e5, 1e8}) {
        SCOPED_TRACE(testing::Message() << at_once << " at once, " << nanos
                                        << " ns, estimate " << estimate);
        PartSize size(1000, estimate, 1e6);
        EXPECT_LE(Measure(1000, at_once, nanos, &size), 4);
        EXPECT_LE(Longest(1000, size.groups(), at_once, nanos), 1e6);
      }
    }
  }
}

TEST(PartSize, JoinsPartsOfAnEstimateThatWasTooHigh) {
  PartSize size(1000, 1e8, 1e6);
  EXPECT_EQ(size.groups(), 7u);
  EXPECT_EQ(Measure(1000, 1, 10, &size), 1);
  EXPECT_EQ(size.groups(), 1000u);
}

TEST(PartSize, DividesNoGroup) {
  PartSize size(3, 0, 1e6);
  EXPECT_LE(Measure(3, 1, 1e7, &size), 4);
  EXPECT_EQ(size.groups(), 1u);
}

TEST(PartSize, KeepsItsEstimateWithoutAClock) {
  PartSize size(1000, 1e7, 1e6);
  size.Close();
  EXPECT_FALSE(size.is_open());
  EXPECT_EQ(size.groups(), 75u);
}

}  // namespace
}  // namespace mace
