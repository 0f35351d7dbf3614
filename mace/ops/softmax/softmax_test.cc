// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "mace/ops/testing/indexing.h"
#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectFloats;
using op_test::ExpectValue;
using op_test::ExpectValues;
using op_test::Flat;
using op_test::ForEachIndex;
using op_test::Index;
using op_test::OpCase;
using op_test::Random;
using op_test::Tolerance;
using op_test::Value;

std::vector<double> Reference(const Value &x, size_t axis, bool log) {
  const std::vector<float> v = x.floats();
  const int64_t n = x.shape[axis];
  const int64_t inner = x.shape.Elements(axis + 1, x.shape.rank());
  std::vector<double> y(v.size());
  for (int64_t o = 0; o < x.shape.Elements(0, axis); ++o) {
    for (int64_t c = 0; c < inner; ++c) {
      const int64_t at = o * n * inner + c;
      double max = -INFINITY;
      for (int64_t i = 0; i < n; ++i) {
        max = std::fmax(max, v[at + i * inner]);
      }
      double sum = 0;
      for (int64_t i = 0; i < n; ++i) {
        sum += std::exp(v[at + i * inner] - max);
      }
      for (int64_t i = 0; i < n; ++i) {
        const double shifted = v[at + i * inner] - max;
        y[at + i * inner] =
            log ? shifted - std::log(sum) : std::exp(shifted) / sum;
      }
    }
  }
  return y;
}

TEST(SoftmaxTest, MatchesTheReferenceAlongEveryAxis) {
  Random random(1);
  for (const Shape &shape :
       {Shape{1001}, Shape{3, 10}, Shape{2, 3, 5, 7}, Shape{1, 17, 33},
        Shape{37, 2}, Shape{20001, 3}, Shape{5, 8}, Shape{4, 1},
        Shape{2, 300, 3}, Shape{1, 2, 600}, Shape{2, 3, 2, 5, 3, 6}}) {
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
      for (const bool log : {false, true}) {
        const Value x = random.Floats(shape, -20, 20);
        // exp and the sum have errors of an ulp or two each; logarithms are up
        // to 45.
        ExpectFloats(OpCase("Softmax")
                         .Input(x)
                         .Int("axis", static_cast<int64_t>(axis))
                         .Int("log", log ? 1 : 0),
                     shape, Reference(x, axis, log),
                     log ? Tolerance{2e-6, 1e-6} : Tolerance{1e-12, 3e-6});
      }
    }
  }
}

TEST(SoftmaxTest, ComputesInFloatForBf16) {
  Random random(2);
  for (const Shape &shape : {Shape{41, 49}, Shape{3, 1100}, Shape{300, 7},
                             Shape{2, 5, 130}, Shape{6, 3, 1, 2}}) {
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
      for (const bool log : {false, true}) {
        const Value x = op_test::RoundToHalf(random.Floats(shape, -8, 8), true);
        ExpectFloats(OpCase("Softmax")
                         .Input(x)
                         .Int("axis", static_cast<int64_t>(axis))
                         .Int("log", log ? 1 : 0)
                         .ComputeIn(op_test::HalfPrecision(true)),
                     shape, Reference(x, axis, log),
                     {1e-7, op_test::HalfError(true)});
      }
    }
  }
}

TEST(SoftmaxTest, LargeAndInfiniteValues) {
  const Value x =
      Value::Floats({2, 3}, {1e30f, -1e30f, 1e30f, -INFINITY, 0, 1});
  ExpectFloats(OpCase("Softmax").Input(x), {2, 3},
               {0.5, 0, 0.5, 0, 0.2689414213699951, 0.7310585786300049},
               {0, 3e-7});
}

TEST(SoftmaxTest, NanSpreadsOverItsRowOnly) {
  for (const int axis : {0, 1}) {
    std::vector<float> x(18 * 18, 1.0f);
    x[5 * 18 + 5] = std::nanf("");
    for (const auto &run :
         op_test::RunEverywhere(OpCase("Softmax")
                                    .Input(Value::Floats({18, 18}, x))
                                    .Int("axis", axis))) {
      const std::vector<float> y = run.result.outputs[0].floats();
      for (int i = 0; i < 18 * 18; ++i) {
        const int line = axis == 0 ? i % 18 : i / 18;
        EXPECT_EQ(std::isnan(y[i]), line == 5) << i;
      }
    }
  }
}

// As masks of attention make them: some elements of a row are -infinity, or all
// but one, or all.
TEST(SoftmaxTest, MaskedElementsAreZeroAndAMaskedRowIsNan) {
  Random random(6);
  for (const Shape &shape : {Shape{3, 10}, Shape{36, 2}, Shape{2, 300, 3},
                             Shape{6, 1, 600}, Shape{5, 8, 4}}) {
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
      std::vector<float> numbers = random.Floats(shape, -20, 20).floats();
      const int64_t n = shape[axis];
      const int64_t inner = shape.Elements(axis + 1, shape.rank());
      for (size_t i = 0; i < numbers.size(); ++i) {
        const auto at = static_cast<int64_t>(i);
        const int64_t row = at / (n * inner) + at % inner;
        const int64_t element = at / inner % n;
        const bool kept = row % 3 == 1 ? element == n / 2 : element % 2 == 1;
        if (row % 3 == 0 || !kept) numbers[i] = -INFINITY;
      }
      const Value x = Value::Floats(shape, numbers);
      ExpectFloats(
          OpCase("Softmax").Input(x).Int("axis", static_cast<int64_t>(axis)),
          shape, Reference(x, axis, false), {1e-12, 3e-6});
    }
  }
}

TEST(SoftmaxTest, Errors) {
  const Value x = Value::Floats({2, 3}, std::vector<float>(6));
  ExpectError(OpCase("Softmax").Input(x).Int("axis", 2),
              MaceStatus::MACE_INVALID_ARGS, "axis 2");
  ExpectError(OpCase("Softmax").Input(Value::Floats({}, {1})),
              MaceStatus::MACE_INVALID_ARGS, "axis -1");
}

}  // namespace
}  // namespace mace
