// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "gtest/gtest.h"
#include "mace/kernels/cpu/winograd/conv_winograd_testing.h"

namespace mace::winograd {
namespace {

Method ChooseFor(const conv::Shape &shape,
                 int max_tile,
                 int lanes,
                 double direct_rate = 1.0) {
  ChooseRequest request;
  request.shape = shape;
  request.max_tile = max_tile;
  request.lanes = lanes;
  request.direct_rate = direct_rate;
  return Choose(request);
}

TEST(Choose, StaysWithinTheHintAndTheGeometry) {
  const conv::Shape large = MakeCase(4, 56, 56, 64, 64, 1).shape;
  for (int lanes : {4, 8, 16}) {
    const auto tile = [&](const conv::Shape &shape, int max_tile) {
      return ChooseFor(shape, max_tile, lanes).tile;
    };
    EXPECT_EQ(tile(large, 0), 0);
    EXPECT_EQ(tile(large, 2), 2);
    EXPECT_EQ(tile(large, 4), 4);
    // Adjacent outputs share no inputs.
    EXPECT_EQ(tile(MakeCase(4, 1, 1, 256, 256, 1).shape, 4), 0);
    // Transforms cost more than three input channels can save.
    EXPECT_EQ(tile(MakeCase(4, 112, 112, 3, 32, 1).shape, 4), 0);
    for (ptrdiff_t conv::Shape::*field :
         {&conv::Shape::stride_h, &conv::Shape::stride_w,
          &conv::Shape::groups}) {
      conv::Shape other = large;
      other.*field = 2;
      EXPECT_EQ(tile(other, 4), 0);
    }
    conv::Shape wide = large;
    wide.kernel_w = 5;
    EXPECT_EQ(tile(wide, 4), 0);
  }
}

conv::Shape Dilated(ptrdiff_t size, ptrdiff_t channels, ptrdiff_t dilation) {
  conv::Shape s = MakeCase(4, size, size, channels, channels, 1).shape;
  s.dilation_h = s.dilation_w = s.pad_top = s.pad_left = dilation;
  return s;
}

// The layers of DeepLabV3 at 128x128 pixels.
TEST(Choose, CountsTilesOfAllPhasesAndTapsInsideTheImage) {
  for (int lanes : {4, 8, 16}) {
    const auto tile = [&](const conv::Shape &shape) {
      return ChooseFor(shape, 4, lanes).tile;
    };
    EXPECT_EQ(tile(Dilated(16, 256, 2)), 4);
    EXPECT_EQ(tile(Dilated(16, 512, 4)), 4);
    // Each phase has one or two outputs per axis, and most taps are outside.
    EXPECT_EQ(tile(Dilated(16, 512, 12)), 0);
    EXPECT_EQ(tile(Dilated(16, 512, 24)), 0);
  }
}

// Wide vectors wait for memory, narrow ones for arithmetic operations.
TEST(Choose, TransformsLargeFiltersInEachRunWhereMemoryIsSlower) {
  const conv::Shape small = MakeCase(4, 56, 56, 64, 64, 1).shape;
  const conv::Shape large = MakeCase(4, 14, 14, 256, 256, 1).shape;
  EXPECT_FALSE(ChooseFor(small, 4, 16).each_run);
  EXPECT_TRUE(ChooseFor(large, 4, 16).each_run);
  EXPECT_FALSE(ChooseFor(large, 4, 4).each_run);
  // With four tiles, transforming the filter to 38 MB is not worthwhile.
  EXPECT_EQ(ChooseFor(MakeCase(4, 7, 7, 512, 512, 1).shape, 4, 16).tile, 2);
  EXPECT_TRUE(ChooseFor(MakeCase(4, 14, 14, 128, 32, 1).shape, 4, 16).each_run);
}

// The direct product is in bf16, points are in float.
TEST(Choose, MakesFewerMultiplicationsOnlyWhereTheseAreNotMuchFaster) {
  const conv::Shape large = MakeCase(4, 56, 56, 64, 64, 1).shape;
  EXPECT_EQ(ChooseFor(large, 4, 16, 2.0).tile, 4);
  EXPECT_EQ(ChooseFor(large, 4, 16, 16.0).tile, 0);
  // With few channels, the transforms cost as much as is saved.
  const conv::Shape few = MakeCase(4, 56, 56, 16, 16, 1).shape;
  EXPECT_EQ(ChooseFor(few, 4, 16).tile, 4);
  EXPECT_EQ(ChooseFor(few, 4, 16, 2.0).tile, 0);
}

}  // namespace
}  // namespace mace::winograd
