// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/window/transposed_window.h"

#include <gtest/gtest.h>

namespace mace {
namespace {

TEST(TransposedWindowTest, Output) {
  const TransposedAxis axis = {3, 2, 2, 1, 2, 1};
  EXPECT_EQ(TransposedOutput("height", axis, 7).value(), 2 * 6 + 5 - 3 + 1);
  EXPECT_EQ(TransposedOutput("height", axis, 0).value(), 0);
}

TEST(TransposedWindowTest, ImpossibleOutputs) {
  const int64_t big = (INT64_C(1) << 31) - 1;
  for (const TransposedAxis &axis :
       {TransposedAxis{1, 1, 1, 1, 0, 0}, TransposedAxis{2, 3, 1, 8, 7, 0},
        TransposedAxis{big, 1, big, 0, 0, 0},
        TransposedAxis{1, big, 1, 0, 0, 0},
        TransposedAxis{1, 1, 1, 0, 0, big}}) {
    const Result<int64_t> output =
        TransposedOutput("width", axis, axis.stride == big ? big : 1);
    ASSERT_FALSE(output.ok());
    EXPECT_NE(output.status().information().find("width"), std::string::npos);
  }
  EXPECT_FALSE(TransposedOutput("width", {1, 0, 1, 0, 0, 0}, 4).ok());
  EXPECT_FALSE(TransposedOutput("width", {}, -1).ok());
  EXPECT_FALSE(TransposedOutput("width", {}, big + 1).ok());
}

}  // namespace
}  // namespace mace
