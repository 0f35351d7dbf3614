// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>

#include "mace/ops/window/transposed_window.h"
#include "mace/ops/window/window.h"

namespace mace {
namespace {

// One axis; the other is 1 x 1.
struct Case {
  int64_t size, kernel, stride, dilation;
  Padding padding;
  int64_t before, after;  // EXPLICIT
  bool ceil_mode;
  int64_t output, pad_before, pad_after;
};

WindowSpec SpecOf(const Case &c) {
  WindowSpec spec;
  spec.kernel[1] = c.kernel;
  spec.stride[1] = c.stride;
  spec.dilation[1] = c.dilation;
  spec.padding = c.padding;
  spec.pads[1] = c.before;
  spec.pads[3] = c.after;
  spec.ceil_mode = c.ceil_mode;
  return spec;
}

TEST(WindowTest, KnownGeometries) {
  const Case cases[] = {
      {224, 7, 2, 1, Padding::EXPLICIT, 3, 3, false, 112, 3, 3},
      {224, 3, 2, 1, Padding::SAME, 0, 0, false, 112, 0, 1},
      {224, 3, 2, 1, Padding::SAME_LOWER, 0, 0, false, 112, 1, 0},
      {7, 3, 1, 2, Padding::SAME, 0, 0, false, 7, 2, 2},
      {7, 3, 1, 2, Padding::VALID, 0, 0, false, 3, 0, 0},
      {5, 1, 2, 1, Padding::SAME, 0, 0, false, 3, 0, 0},
      // A stride larger than the kernel leaves inputs unread, without padding.
      {7, 1, 3, 1, Padding::SAME, 0, 0, false, 3, 0, 0},
      {112, 3, 2, 1, Padding::VALID, 0, 0, true, 56, 0, 0},
      {112, 3, 2, 1, Padding::VALID, 0, 0, false, 55, 0, 0},
      // The third window would start at element 4 = size + before: dropped.
      {3, 2, 2, 1, Padding::EXPLICIT, 1, 1, true, 2, 1, 1},
      {2, 1, 2, 1, Padding::EXPLICIT, 0, 1, true, 1, 0, 1},
      {0, 3, 2, 1, Padding::SAME, 0, 0, false, 0, 0, 0},
      {65535, 65535, 65535, 1, Padding::SAME, 0, 0, false, 1, 0, 0},
  };
  for (const Case &c : cases) {
    const auto result = ComputeWindow(SpecOf(c), 1, c.size);
    ASSERT_TRUE(result.ok()) << result.status().information();
    SCOPED_TRACE(testing::Message()
                 << "size " << c.size << " kernel " << c.kernel << " stride "
                 << c.stride << " padding " << static_cast<int>(c.padding));
    EXPECT_EQ(result.value().axis[0].output, 1);
    EXPECT_EQ(result.value().axis[1].output, c.output);
    EXPECT_EQ(result.value().axis[1].pad_before, c.pad_before);
    EXPECT_EQ(result.value().axis[1].pad_after, c.pad_after);
  }
}

// Every window starts inside the input or the padding before it; one more
// window would not.
TEST(WindowTest, PropertyOverSmallSizes) {
  int checked = 0;
  for (int64_t size = 1; size < 12; ++size) {
    for (int64_t kernel = 1; kernel < 5; ++kernel) {
      for (int64_t stride = 1; stride < 5; ++stride) {
        for (int64_t pad = 0; pad < kernel; ++pad) {
          for (const bool ceil_mode : {false, true}) {
            const Case c = {size, kernel, stride,    1, Padding::EXPLICIT,
                            pad,  pad,    ceil_mode, 0, 0,
                            0};
            const auto result = ComputeWindow(SpecOf(c), 1, size);
            if (size + 2 * pad < kernel) {
              EXPECT_FALSE(result.ok());
              continue;
            }
            ASSERT_TRUE(result.ok());
            const int64_t last =
                (result.value().axis[1].output - 1) * stride - pad;
            EXPECT_LT(last, size);
            if (!ceil_mode) {
              EXPECT_LE(last + kernel, size + pad);
              EXPECT_GT(last + stride + kernel, size + pad);
            } else {
              // The next one would start too late, or add nothing.
              EXPECT_TRUE(last + stride >= size || last + kernel >= size + pad);
            }
            ++checked;
          }
        }
      }
    }
  }
  EXPECT_GT(checked, 500);
}

TEST(WindowTest, RefusesWhatDoesNotFit) {
  Case c = {2, 3, 1, 1, Padding::VALID, 0, 0, false, 0, 0, 0};
  const auto small = ComputeWindow(SpecOf(c), 1, c.size);
  EXPECT_EQ(small.status().code(), MaceStatus::MACE_INVALID_ARGS);
  EXPECT_NE(small.status().information().find("width"), std::string::npos);

  for (const int64_t hostile : {INT64_C(-1), INT64_C(1) << 31, INT64_MAX}) {
    EXPECT_FALSE(ComputeWindow(SpecOf(c), hostile, 8).ok());
    Case bad = c;
    bad.kernel = hostile;
    EXPECT_FALSE(ComputeWindow(SpecOf(bad), 8, 8).ok());
    bad = c;
    bad.stride = hostile;
    EXPECT_FALSE(ComputeWindow(SpecOf(bad), 8, 8).ok());
  }
}

// Counted window by window.
TEST(PaddingAfterTest, IsWhatWindowsReadAfterTheImage) {
  for (int64_t size = 1; size <= 7; ++size) {
    for (int64_t kernel = 1; kernel <= 4; ++kernel) {
      for (int64_t stride = 1; stride <= 3; ++stride) {
        for (int64_t dilation = 1; dilation <= 2; ++dilation) {
          for (int64_t before = 0; before <= 2; ++before) {
            for (int64_t output = 1; output <= 4; ++output) {
              WindowAxis axis;
              axis.size = size;
              axis.kernel = kernel;
              axis.stride = stride;
              axis.dilation = dilation;
              axis.pad_before = before;
              axis.output = output;
              int64_t last = 0;
              for (int64_t window = 0; window < output; ++window) {
                for (int64_t tap = 0; tap < kernel; ++tap) {
                  last =
                      std::max(last, window * stride - before + tap * dilation);
                }
              }
              EXPECT_EQ(PaddingAfter(axis),
                        std::max<int64_t>(last + 1 - size, 0));
            }
          }
        }
      }
    }
  }
}

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
