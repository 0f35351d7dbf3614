// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
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
using op_test::OpCase;
using op_test::Random;
using op_test::RoundToHalf;
using op_test::Value;

TEST(BatchNormTest, ScalesAndShiftsByChannel) {
  Random random(4);
  for (const int64_t channels : {1, 3, 8, 17, 64}) {
    for (const Shape &shape :
         {Shape{channels}, Shape{5, channels}, Shape{2, 3, 4, channels}}) {
      const Value x = random.Floats(shape);
      const Value scale = random.Floats({channels});
      const Value offset = random.Floats({channels});
      for (const char *activation : {"NONE", "RELU", "LEAKY_RELU"}) {
        std::vector<double> expected;
        for (size_t i = 0; i < x.floats().size(); ++i) {
          const auto c = static_cast<int64_t>(i) % channels;
          double y =
              double{x.floats()[i]} * scale.floats()[c] + offset.floats()[c];
          if (y < 0 && std::string(activation) == "RELU") y = 0;
          if (y < 0 && std::string(activation) == "LEAKY_RELU") y *= 0.5;
          expected.push_back(y);
        }
        // Two roundings of numbers up to 2.
        ExpectFloats(OpCase("BatchNorm")
                         .Input(x)
                         .Constant(scale)
                         .Constant(offset)
                         .String("activation", activation)
                         .Float("activation_alpha", 0.5f),
                     shape, expected, {3e-7, 0});
      }
    }
  }
}

TEST(BatchNormTest, Errors) {
  const Value x = Value::Floats({2, 3}, std::vector<float>(6));
  const Value three = Value::Floats({3}, {1, 2, 3});
  const Value two = Value::Floats({2}, {1, 2});
  ExpectError(OpCase("BatchNorm").Input(x).Constant(three).Constant(two),
              MaceStatus::MACE_INVALID_ARGS, "offset [2]");
  ExpectError(OpCase("BatchNorm").Input(x).Constant(two).Constant(three),
              MaceStatus::MACE_INVALID_ARGS, "[2, 3]");
  ExpectError(OpCase("BatchNorm")
                  .Input(x)
                  .Constant(three)
                  .Constant(three)
                  .String("activation", "PRELU"),
              MaceStatus::MACE_INVALID_ARGS, "PRELU");
}

std::vector<double> InstanceNormReference(const Value &x,
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

OpCase InstanceNormCase(const Value &x,
                        const Value &scale,
                        const Value &offset) {
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
      ExpectFloats(InstanceNormCase(x, scale, offset).Float("epsilon", 1e-3f),
                   shape, InstanceNormReference(x, scale, offset, 1e-3f),
                   {1e-5, 2e-6});
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
  ExpectFloats(InstanceNormCase(x, scale, offset), shape,
               InstanceNormReference(x, scale, offset, 1e-5f), {2e-3, 0});
}

TEST(InstanceNormTest, ActivatesWhatItNormalised) {
  Random random(73);
  const Shape shape = {2, 4, 7, 20};
  const Value x = random.Floats(shape);
  const Value scale = random.Floats({20});
  const Value offset = random.Floats({20});
  std::vector<double> expected = InstanceNormReference(x, scale, offset, 1e-5f);
  for (double &y : expected) y = std::max(0.0, y);
  ExpectFloats(InstanceNormCase(x, scale, offset).String("activation", "RELU"),
               shape, expected, {1e-5, 0});
}

TEST(InstanceNormTest, NanStaysInItsImageAndChannel) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Value x = Value::Floats({2, 2, 2}, {nan, 1, 0, 3, 1, 2, 3, 2});
  const Value scale = Value::Floats({2}, {1, 1});
  const Value offset = Value::Floats({2}, {0, 0});
  ExpectFloats(InstanceNormCase(x, scale, offset).Float("epsilon", 1), x.shape,
               InstanceNormReference(x, scale, offset, 1), {1e-6, 0});
}

TEST(InstanceNormTest, NoElements) {
  const Value none = Value::Floats({0}, {});
  ExpectFloats(InstanceNormCase(Value::Floats({2, 3, 0}, {}), none, none),
               {2, 3, 0}, {}, {});
  const Value one = Value::Floats({1}, {1});
  ExpectFloats(InstanceNormCase(Value::Floats({2, 0, 1}, {}), one, one),
               {2, 0, 1}, {}, {});
}

TEST(InstanceNormTest, Errors) {
  const Value x = Value::Floats({1, 2, 3}, std::vector<float>(6));
  const Value matrix = Value::Floats({2, 3}, std::vector<float>(6));
  const Value three = Value::Floats({3}, {1, 2, 3});
  const Value two = Value::Floats({2}, {1, 2});
  ExpectError(InstanceNormCase(matrix, three, three),
              MaceStatus::MACE_INVALID_ARGS, "[N, ..., C]");
  ExpectError(InstanceNormCase(x, three, two), MaceStatus::MACE_INVALID_ARGS,
              "offset [2]");
  ExpectError(InstanceNormCase(x, two, three), MaceStatus::MACE_INVALID_ARGS,
              "[1, 2, 3]");
  ExpectError(InstanceNormCase(x, three, three).String("activation", "PRELU"),
              MaceStatus::MACE_INVALID_ARGS, "PRELU");
}

struct Affine {
  std::vector<float> scale;   // empty: 1
  std::vector<float> offset;  // empty: 0
};

std::vector<double> LayerNormReference(const Value &x,
                                       const Affine &affine,
                                       double epsilon,
                                       bool subtract_mean) {
  const std::vector<float> v = x.floats();
  const auto n = static_cast<size_t>(x.shape.back());
  std::vector<double> y(v.size());
  for (size_t first = 0; first < v.size(); first += n) {
    double mean = 0;
    double squares = 0;
    if (subtract_mean) {
      for (size_t i = 0; i < n; ++i) mean += v[first + i];
      mean /= static_cast<double>(n);
    }
    for (size_t i = 0; i < n; ++i) {
      squares += (v[first + i] - mean) * (v[first + i] - mean);
    }
    const double factor =
        1 / std::sqrt(squares / static_cast<double>(n) + epsilon);
    for (size_t i = 0; i < n; ++i) {
      y[first + i] = (v[first + i] - mean) * factor *
                         (affine.scale.empty() ? 1 : affine.scale[i]) +
                     (affine.offset.empty() ? 0 : affine.offset[i]);
    }
  }
  return y;
}

OpCase LayerNormCase(const Value &x, bool subtract_mean) {
  return OpCase("LayerNorm")
      .Input(x)
      .Float("epsilon", 1e-3f)
      .Int("subtract_mean", subtract_mean ? 1 : 0);
}

TEST(LayerNormTest, MatchesTheReference) {
  Random random(91);
  for (const int64_t n : {1, 3, 8, 17, 64, 768}) {
    for (const Shape &shape :
         {Shape{n}, Shape{5, n}, Shape{2, 9, n}, Shape{1, 3, 4, n}}) {
      for (const bool subtract_mean : {false, true}) {
        const Value x = random.Floats(shape, -3, 2);
        const Value scale = random.Floats({n});
        const Value offset = random.Floats({n});
        // Rounding errors of results up to 30; they are larger if a row is
        // nearly constant and the factor is therefore large.
        ExpectFloats(
            LayerNormCase(x, subtract_mean).Constant(scale).Constant(offset),
            shape,
            LayerNormReference(x, {scale.floats(), offset.floats()}, 1e-3f,
                               subtract_mean),
            {1e-5, 2e-6});
        ExpectFloats(
            LayerNormCase(x, subtract_mean).Constant(scale), shape,
            LayerNormReference(x, {scale.floats(), {}}, 1e-3f, subtract_mean),
            {1e-5, 2e-6});
        ExpectFloats(LayerNormCase(x, subtract_mean), shape,
                     LayerNormReference(x, {}, 1e-3f, subtract_mean),
                     {1e-5, 2e-6});
      }
    }
  }
}

TEST(LayerNormTest, ComputesInFloatForSixteenBits) {
  Random random(92);
  for (const bool bf16 : {false, true}) {
    for (const int64_t n : {5, 64, 700}) {
      const Shape shape = {7, n};
      const Value x = RoundToHalf(random.Floats(shape, -3, 2), bf16);
      const Value scale = random.Floats({n});
      const Value offset = random.Floats({n});
      ExpectFloats(
          LayerNormCase(x, true).Constant(scale).Constant(offset).ComputeIn(
              op_test::HalfPrecision(bf16)),
          shape,
          LayerNormReference(x, {scale.floats(), offset.floats()}, 1e-3f, true),
          {1e-5, op_test::HalfError(bf16)});
    }
  }
}

// The mean of squares minus the square of the mean would have no correct digit.
TEST(LayerNormTest, KeepsSmallDeviationsFromLargeMeans) {
  Random random(93);
  const Shape shape = {3, 1000};
  const Value x = random.Floats(shape, 9999, 10001);
  ExpectFloats(LayerNormCase(x, true), shape,
               LayerNormReference(x, {}, 1e-3f, true), {2e-5, 1e-5});
}

TEST(LayerNormTest, NothingOfNothing) {
  ExpectFloats(LayerNormCase(Value::Floats({2, 0}, {}), true), {2, 0}, {},
               {0, 0});
  ExpectFloats(LayerNormCase(Value::Floats({0, 3}, {}), true), {0, 3}, {},
               {0, 0});
}

TEST(LayerNormTest, Errors) {
  const Value x = Value::Floats({2, 3}, std::vector<float>(6));
  const Value two = Value::Floats({2}, {1, 2});
  const Value three = Value::Floats({3}, {1, 2, 3});
  ExpectError(LayerNormCase(x, true).Constant(two),
              MaceStatus::MACE_INVALID_ARGS, "scale has the shape [2]");
  ExpectError(LayerNormCase(x, true).Constant(three).Constant(two),
              MaceStatus::MACE_INVALID_ARGS, "offset has the shape [2]");
  ExpectError(LayerNormCase(Value::Floats({}, {1}), true),
              MaceStatus::MACE_INVALID_ARGS, "scalar");
}

std::vector<double> LocalResponseNormReference(const Value &x,
                                               int64_t before,
                                               int64_t after,
                                               double alpha,
                                               double beta,
                                               double bias) {
  const std::vector<float> v = x.floats();
  const int64_t channels = x.shape.back();
  std::vector<double> y(v.size());
  for (size_t i = 0; i < v.size(); ++i) {
    const int64_t c = static_cast<int64_t>(i) % channels;
    const int64_t pixel = static_cast<int64_t>(i) - c;
    double sum = 0;
    for (int64_t k = c - before; k <= c + after; ++k) {
      if (k < 0 || k >= channels) continue;
      sum += double{v[pixel + k]} * v[pixel + k];
    }
    y[i] = v[i] / std::pow(bias + alpha * sum, beta);
  }
  return y;
}

TEST(LocalResponseNormTest, MatchesTheReference) {
  Random random(2);
  for (const int64_t channels : {1, 3, 5, 16, 31, 64}) {
    for (const int64_t before : {0, 1, 2, 5}) {
      for (const int64_t after : {0, 2, 3}) {
        for (const float beta : {0.75f, 0.5f, 1.0f, 0.6f, -0.3f}) {
          const Shape shape = {2, 3, 2, channels};
          const Value x = random.Floats(shape, -3, 3);
          ExpectFloats(
              OpCase("LocalResponseNorm")
                  .Input(x)
                  .Int("before", before)
                  .Int("after", after)
                  .Float("alpha", 0.3f)
                  .Float("beta", beta)
                  .Float("bias", 1.5f),
              shape,
              LocalResponseNormReference(x, before, after, 0.3f, beta, 1.5),
              {0, 2e-6});
        }
      }
    }
  }
}

TEST(LocalResponseNormTest, WindowBeyondAllChannels) {
  Random random(3);
  const Value x = random.Floats({1, 1, 2, 4});
  ExpectFloats(OpCase("LocalResponseNorm")
                   .Input(x)
                   .Int("before", 65535)
                   .Int("after", 65535)
                   .Float("alpha", 1)
                   .Float("beta", 0.75f),
               {1, 1, 2, 4},
               LocalResponseNormReference(x, 100, 100, 1, 0.75, 1), {0, 2e-6});
}

TEST(LocalResponseNormTest, Errors) {
  const OpCase good = OpCase("LocalResponseNorm")
                          .Input(Value::Floats({3}, {1, 2, 3}))
                          .Int("before", 1)
                          .Int("after", 1)
                          .Float("alpha", 1)
                          .Float("beta", 1);
  ExpectError(good, MaceStatus::MACE_INVALID_ARGS, "[N, H, W, C]");
}

}  // namespace
}  // namespace mace
