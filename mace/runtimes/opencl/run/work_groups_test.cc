// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/run/work_groups.h"

#include <gtest/gtest.h>

#include <set>

namespace mace {
namespace {

TEST(WorkGroupsTest, GuessesFitTheItems) {
  const WorkGroupLimits limits = {256, {256, 256, 64}};
  EXPECT_EQ(GuessWorkGroup({16, 28, 112}, limits), (WorkGroup{16, 4, 1}));
  EXPECT_EQ(GuessWorkGroup({3, 5, 6}, limits), (WorkGroup{4, 8, 2}));
  EXPECT_EQ(GuessWorkGroup({1, 1, 1}, limits), (WorkGroup{1, 1, 1}));
  EXPECT_EQ(GuessWorkGroup({1000, 1, 1}, {16, {256, 256, 64}}),
            (WorkGroup{16, 1, 1}));
  EXPECT_EQ(GuessWorkGroup({1000, 1000, 1}, {64, {8, 2, 1}}),
            (WorkGroup{8, 2, 1}));
}

TEST(WorkGroupsTest, CandidatesAreWithinTheLimits) {
  const WorkGroupLimits all_limits[] = {{1, {1, 1, 1}},
                                        {16, {256, 256, 256}},
                                        {64, {256, 8, 1}},
                                        {256, {256, 256, 64}},
                                        {1024, {1024, 1024, 64}}};
  for (const WorkGroupLimits &limits : all_limits) {
    for (int64_t x : {1, 2, 7, 64, 1000}) {
      for (int64_t y : {1, 3, 14, 56}) {
        for (int64_t z : {1, 4, 9, 112}) {
          const auto groups = CandidateWorkGroups({x, y, z}, limits);
          ASSERT_FALSE(groups.empty());
          EXPECT_LE(groups.size(), 24u);
          EXPECT_EQ(groups[0], GuessWorkGroup({x, y, z}, limits));
          EXPECT_EQ(std::set<WorkGroup>(groups.begin(), groups.end()).size(),
                    groups.size());
          for (const WorkGroup &group : groups) {
            EXPECT_TRUE(Fits(group, limits)) << WorkGroupText(group);
            EXPECT_EQ(z % group[2], 0) << WorkGroupText(group);
          }
        }
      }
    }
  }
  // There is a choice where there are many items.
  EXPECT_GT(CandidateWorkGroups({16, 28, 112}, all_limits[3]).size(), 8u);
}

}  // namespace
}  // namespace mace
