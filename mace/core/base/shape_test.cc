// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/base/shape.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace mace {
namespace {

TEST(ShapeTest, HoldsUpToMaxRankDimensions) {
  Shape shape;
  for (size_t i = 0; i < Shape::kMaxRank; ++i) {
    EXPECT_TRUE(shape.Append(static_cast<int64_t>(i)));
  }
  EXPECT_FALSE(shape.Append(9));
  EXPECT_EQ(shape.rank(), Shape::kMaxRank);
}

TEST(ShapeTest, CountsElements) {
  EXPECT_EQ(Shape({2, 3, 4}).Elements(), 24);
  EXPECT_EQ(Shape({2, 3, 4}).Elements(1, 3), 12);
  EXPECT_EQ(Shape().Elements(), 1);
  EXPECT_EQ(Shape({2, 0, 4}).Elements(), 0);
}

TEST(ShapeTest, CheckedElementsRefusesWhatOverflows) {
  EXPECT_EQ(Shape({2, 3}).CheckedElements(), 6);
  EXPECT_EQ(Shape({2, -1}).CheckedElements(), -1);
  EXPECT_EQ(Shape({INT64_MAX, INT64_MAX}).CheckedElements(), -1);
  // The zero is last; before it, the product has overflowed.
  EXPECT_EQ(Shape({INT64_MAX, INT64_MAX, 0}).CheckedElements(), -1);
  EXPECT_EQ(Shape({7, 0, 7}).CheckedElements(), 0);
  EXPECT_EQ(Shape({7, 0, -7}).CheckedElements(), -1);
  EXPECT_EQ(Shape({11}).CheckedElements(10), -1);
}

TEST(ShapeTest, NormalizesAxes) {
  const Shape shape{2, 3, 4};
  EXPECT_EQ(shape.NormalizeAxis(0), 0);
  EXPECT_EQ(shape.NormalizeAxis(-1), 2);
  EXPECT_EQ(shape.NormalizeAxis(-4), -1);
  EXPECT_EQ(shape.NormalizeAxis(3), -1);
}

TEST(ShapeTest, ComparesAndPrints) {
  EXPECT_EQ(Shape({1, 2}), Shape({1, 2}));
  EXPECT_NE(Shape({1, 2}), Shape({1, 2, 1}));
  EXPECT_NE(Shape({1, 2}), Shape({1, 3}));
  EXPECT_EQ(Shape({1, 224, -1}).ToString(), "[1, 224, -1]");
  EXPECT_EQ(Shape().ToString(), "[]");
}

}  // namespace
}  // namespace mace
