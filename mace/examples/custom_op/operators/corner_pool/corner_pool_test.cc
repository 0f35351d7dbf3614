// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectFloats;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

// Compares each element with all elements before it.
std::vector<double> Expected(const Shape &shape,
                             size_t axis,
                             bool reverse,
                             const std::vector<float> &x) {
  const int64_t inner = shape.Elements(axis + 1, shape.rank());
  std::vector<double> y(x.begin(), x.end());
  for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
    const int64_t own = i / inner % shape[axis];
    for (int64_t k = 0; k < shape[axis]; ++k) {
      if (reverse ? k > own : k < own) {
        const double other = x[static_cast<size_t>(i + (k - own) * inner)];
        double &most = y[static_cast<size_t>(i)];
        most = std::max(most, other);
      }
    }
  }
  return y;
}

TEST(CornerPoolTest, ComparesAlongEveryAxis) {
  Random random(1);
  // Axes of one element and of none, rows and columns longer than a block.
  for (const Shape &shape :
       {Shape{7}, Shape{2, 3, 5, 33}, Shape{3, 300}, Shape{2, 1, 4},
        Shape{3, 0, 2}, Shape{1, 700}, Shape{20, 40, 30}}) {
    const Value x = random.Floats(shape);
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
      for (const bool reverse : {false, true}) {
        SCOPED_TRACE(testing::Message() << shape.ToString() << " axis " << axis
                                        << " reverse " << reverse);
        // No element is computed, so the results are exact.
        ExpectFloats(OpCase("CornerPool")
                         .Input(x)
                         .Int("axis", static_cast<int64_t>(axis))
                         .Int("reverse", reverse ? 1 : 0),
                     shape, Expected(shape, axis, reverse, x.floats()), {0, 0});
      }
    }
  }
}

TEST(CornerPoolTest, CountsAxesFromTheEnd) {
  const Value x = Value::Floats({2, 3}, {1, 5, 3, 4, 2, 6});
  ExpectFloats(OpCase("CornerPool").Input(x).Int("axis", -1), {2, 3},
               {1, 5, 5, 4, 4, 6}, {0, 0});
  ExpectFloats(OpCase("CornerPool").Input(x).Int("axis", -2), {2, 3},
               {1, 5, 3, 4, 5, 6}, {0, 0});
}

TEST(CornerPoolTest, NotANumberGoesForward) {
  const Value x = Value::Floats({2, 4}, {1, NAN, 2, HUGE_VALF,  //
                                         NAN, 1, -HUGE_VALF, 0});
  ExpectFloats(OpCase("CornerPool").Input(x).Int("axis", 1), {2, 4},
               {1, NAN, NAN, NAN, NAN, NAN, NAN, NAN}, {0, 0});
  ExpectFloats(OpCase("CornerPool").Input(x).Int("axis", 0), {2, 4},
               {1, NAN, 2, HUGE_VAL, NAN, NAN, 2, HUGE_VAL}, {0, 0});
}

TEST(CornerPoolTest, Errors) {
  const Value x = Value::Floats({2}, {1, 2});
  ExpectError(OpCase("CornerPool").Input(x), MaceStatus::MACE_INVALID_ARGS,
              "axis");
  ExpectError(OpCase("CornerPool").Input(x).Int("axis", 1),
              MaceStatus::MACE_INVALID_ARGS,
              "axis 1 is out of range for an input of shape [2]");
}

}  // namespace
}  // namespace mace
