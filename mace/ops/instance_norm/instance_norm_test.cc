// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectFloats;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

std::vector<double> Reference(const Value &x,
                              const Value &scale,
                              const Value &offset,
                              double epsilon) {
  const std::vector<float> v = x.floats();
  const auto channels = static_cast<size_t>(x.shape.back());
  const auto images = static_cast<size_t>(x.shape[0]);
  const size_t rows = v.size() / channels / images;
  std::vector<double> y(v.size());
  for (size_t image = 0; image < images; ++image) {
    for (size_t c = 0; c < channels; ++c) {
      const size_t first = image * rows * channels + c;
      double mean = 0;
      double distances = 0;
      for (size_t r = 0; r < rows; ++r) mean += v[first + r * channels];
      mean /= static_cast<double>(rows);
      for (size_t r = 0; r < rows; ++r) {
        const double d = v[first + r * channels] - mean;
        distances += d * d;
      }
      const double factor =
          scale.floats()[c] /
          std::sqrt(distances / static_cast<double>(rows) + epsilon);
      for (size_t r = 0; r < rows; ++r) {
        const size_t i = first + r * channels;
        y[i] = (v[i] - mean) * factor + offset.floats()[c];
      }
    }
  }
  return y;
}

OpCase MakeCase(const Value &x, const Value &scale, const Value &offset) {
  return OpCase("InstanceNorm").Input(x).Input(scale).Constant(offset);
}

TEST(InstanceNormTest, MatchesTheReference) {
  Random random(71);
  for (const int64_t channels : {1, 3, 8, 17, 64, 600}) {
    for (const Shape &shape :
         {Shape{1, 1, channels}, Shape{2, 5, channels},
          Shape{1, 9, 23, channels}, Shape{3, 2, 2, 3, channels}}) {
      const Value x = random.Floats(shape, -3, 2);
      const Value scale = random.Floats({channels});
      const Value offset = random.Floats({channels});
      // For rounding of results up to 15, with larger errors if a few rows are
      // nearly equal and the factor is large.
      ExpectFloats(MakeCase(x, scale, offset).Float("epsilon", 1e-3f), shape,
                   Reference(x, scale, offset, 1e-3f), {1e-5, 2e-6});
    }
  }
}

// 40,000 rows are many blocks: computing the mean of squares minus the square
// of the mean would lose all digits of a deviation that is 10,000 times smaller
// than the mean.
TEST(InstanceNormTest, KeepsSmallDeviationsFromLargeMeans) {
  Random random(72);
  const Shape shape = {1, 200, 200, 5};
  const Value x = random.Floats(shape, 9999, 10001);
  const Value scale = Value::Floats({5}, std::vector<float>(5, 1.0f));
  const Value offset = Value::Floats({5}, std::vector<float>(5, 0.0f));
  // Inputs and means are multiples of 2^-10, which is 0.0017 deviations.
  ExpectFloats(MakeCase(x, scale, offset), shape,
               Reference(x, scale, offset, 1e-5f), {2e-3, 0});
}

TEST(InstanceNormTest, ActivatesWhatItNormalised) {
  Random random(73);
  const Shape shape = {2, 4, 7, 20};
  const Value x = random.Floats(shape);
  const Value scale = random.Floats({20});
  const Value offset = random.Floats({20});
  std::vector<double> expected = Reference(x, scale, offset, 1e-5f);
  for (double &y : expected) y = std::max(0.0, y);
  ExpectFloats(MakeCase(x, scale, offset).String("activation", "RELU"), shape,
               expected, {1e-5, 0});
}

TEST(InstanceNormTest, NanStaysInItsImageAndChannel) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Value x = Value::Floats({2, 2, 2}, {nan, 1, 0, 3, 1, 2, 3, 2});
  const Value scale = Value::Floats({2}, {1, 1});
  const Value offset = Value::Floats({2}, {0, 0});
  ExpectFloats(MakeCase(x, scale, offset).Float("epsilon", 1), x.shape,
               Reference(x, scale, offset, 1), {1e-6, 0});
}

TEST(InstanceNormTest, NoElements) {
  const Value none = Value::Floats({0}, {});
  ExpectFloats(MakeCase(Value::Floats({2, 3, 0}, {}), none, none), {2, 3, 0},
               {}, {});
  const Value one = Value::Floats({1}, {1});
  ExpectFloats(MakeCase(Value::Floats({2, 0, 1}, {}), one, one), {2, 0, 1}, {},
               {});
}

TEST(InstanceNormTest, Errors) {
  const Value x = Value::Floats({1, 2, 3}, std::vector<float>(6));
  const Value matrix = Value::Floats({2, 3}, std::vector<float>(6));
  const Value three = Value::Floats({3}, {1, 2, 3});
  const Value two = Value::Floats({2}, {1, 2});
  ExpectError(MakeCase(matrix, three, three), MaceStatus::MACE_INVALID_ARGS,
              "[N, ..., C]");
  ExpectError(MakeCase(x, three, two), MaceStatus::MACE_INVALID_ARGS,
              "offset [2]");
  ExpectError(MakeCase(x, two, three), MaceStatus::MACE_INVALID_ARGS,
              "[1, 2, 3]");
  ExpectError(MakeCase(x, three, three).String("activation", "PRELU"),
              MaceStatus::MACE_INVALID_ARGS, "PRELU");
}

}  // namespace
}  // namespace mace
