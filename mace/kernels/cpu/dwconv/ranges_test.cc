// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/dwconv/ranges.h"

#include <vector>

#include "gtest/gtest.h"

namespace mace::dwconv {
namespace {

Shape MakeShape(ptrdiff_t rows, ptrdiff_t groups, ptrdiff_t multiplier) {
  Shape shape;
  shape.out_h = rows;
  shape.in_c = groups;
  shape.out_c = groups * multiplier;
  shape.groups = groups;
  return shape;
}

TEST(RangesTest, CoverEveryOutputOnce) {
  for (ptrdiff_t rows : {1, 6, 15, 28, 113}) {
    for (ptrdiff_t groups : {1, 17, 136, 485}) {
      for (ptrdiff_t multiplier : {1, 3, 40}) {
        for (int threads : {1, 2, 3, 8}) {
          const Ranges ranges =
              SplitRanges(MakeShape(rows, groups, multiplier), threads);
          std::vector<int> times(static_cast<size_t>(rows * groups), 0);
          for (ptrdiff_t i = 0; i < ranges.count(); ++i) {
            const Range r = RangeOf(ranges, i);
            for (ptrdiff_t row = r.row_begin; row < r.row_end; ++row) {
              for (ptrdiff_t g = r.group_begin; g < r.group_end; ++g) {
                ++times[static_cast<size_t>(row * groups + g)];
              }
            }
          }
          EXPECT_EQ(times, std::vector<int>(times.size(), 1))
              << rows << " rows, " << groups << " groups, " << threads;
        }
      }
    }
  }
}

TEST(RangesTest, AreAboutAsLargeAsEachOther) {
  for (ptrdiff_t rows : {7, 14, 15, 28, 113}) {
    for (ptrdiff_t groups : {64, 136, 272, 485, 513}) {
      for (int threads : {2, 3, 8}) {
        const Ranges ranges = SplitRanges(MakeShape(rows, groups, 1), threads);
        for (ptrdiff_t i = 0; i < ranges.count(); ++i) {
          const Range r = RangeOf(ranges, i);
          const ptrdiff_t height = r.row_end - r.row_begin;
          const ptrdiff_t width = r.group_end - r.group_begin;
          EXPECT_LE(height * ranges.row_parts, rows + ranges.row_parts);
          EXPECT_GE(height * ranges.row_parts, rows - ranges.row_parts);
          // Widths differ by at most 16, and the last 16 may be incomplete.
          EXPECT_LE((width - 16) * ranges.group_parts, groups + 15);
          EXPECT_GE((width + 31) * ranges.group_parts, groups);
          EXPECT_EQ(r.group_begin % 16, 0);
        }
      }
    }
  }
}

TEST(RangesTest, OneThreadTakesAllAtOnce) {
  EXPECT_EQ(SplitRanges(MakeShape(28, 136, 1), 1).count(), 1);
}

TEST(RangesTest, ThreadsGetAFewEach) {
  EXPECT_EQ(SplitRanges(MakeShape(56, 128, 1), 2).count(), 8);
  EXPECT_EQ(SplitRanges(MakeShape(14, 272, 1), 2).count(), 8);
}

}  // namespace
}  // namespace mace::dwconv
