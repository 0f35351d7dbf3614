// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "mace/ops/testing/indexing.h"
#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::CaseInput;
using op_test::ExpectError;
using op_test::ExpectFloats;
using op_test::ExpectValue;
using op_test::Flat;
using op_test::ForEachIndex;
using op_test::Index;
using op_test::OpCase;
using op_test::OpResult;
using op_test::OpSession;
using op_test::Random;
using op_test::RunOptions;
using op_test::Value;

struct Setting {
  std::string mode = "LINEAR";
  std::string coordinates = "HALF_PIXEL";
  std::string rounding = "PREFER_FLOOR";
  bool exclude_outside = false;
  bool antialias = false;
  double cubic = -0.75;
};

// The position of output i along an axis of n elements that is resized to m.
double Source(const std::string &coordinates, int64_t i, int64_t n, int64_t m) {
  const double scale = double(m) / double(n);
  if (coordinates == "ALIGN_CORNERS") {
    return m == 1 ? 0 : double(i * (n - 1)) / double(m - 1);
  }
  if (coordinates == "ASYMMETRIC") return double(i * n) / double(m);
  if (coordinates == "HALF_PIXEL_FLOOR") return (double(i) + 0.5) / scale;
  if (coordinates == "PYTORCH_HALF_PIXEL" && m == 1) return 0;
  // Computed from integers, so that halves are exact.
  return double((2 * i + 1) * n - m) / double(2 * m);
}

double Kernel(const Setting &s, double d) {
  d = std::fabs(d);
  if (s.mode == "LINEAR") return d < 1 ? 1 - d : 0;
  const double a = s.cubic;
  if (d <= 1) return (a + 2) * d * d * d - (a + 3) * d * d + 1;
  if (d < 2) return a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a;
  return 0;
}

// The weight of each of n elements in output i, found by trying all integers
// that could be near.
std::vector<double> Weights(const Setting &s, int64_t i, int64_t n, int64_t m) {
  std::vector<double> weights(static_cast<size_t>(n), 0.0);
  const double x = Source(s.coordinates, i, n, m);
  const auto at = [&](int64_t k) -> double & {
    return weights[static_cast<size_t>(
        std::min(std::max(k, int64_t{0}), n - 1))];
  };
  if (s.mode == "NEAREST") {
    double nearest = std::round(x);  // away from zero: up
    if (s.rounding == "PREFER_FLOOR" && std::fabs(x - std::trunc(x)) == 0.5) {
      nearest = std::floor(x);
    }
    if (s.rounding == "FLOOR") nearest = std::floor(x);
    if (s.rounding == "CEIL") nearest = std::ceil(x);
    at(static_cast<int64_t>(nearest)) = 1;
    return weights;
  }
  const double narrow = s.antialias && m < n ? double(m) / double(n) : 1.0;
  double sum = 0;
  for (int64_t k = -3 * n - 5; k < 4 * n + 5; ++k) {
    if (s.exclude_outside && (k < 0 || k >= n)) continue;
    const double weight = Kernel(s, (double(k) - x) * narrow);
    at(k) += weight;
    sum += weight;
  }
  if (s.antialias || s.exclude_outside) {
    for (double &weight : weights) weight /= sum;
  }
  return weights;
}

std::vector<double> Reference(const Setting &s,
                              const Value &x,
                              int64_t height,
                              int64_t width) {
  const std::vector<float> v = x.floats();
  std::vector<double> y;
  ForEachIndex({x.shape[0], height, width, x.shape[3]}, [&](const Index &o) {
    const auto down = Weights(s, o[1], x.shape[1], height);
    const auto across = Weights(s, o[2], x.shape[2], width);
    double sum = 0;
    for (int64_t i = 0; i < x.shape[1]; ++i) {
      for (int64_t j = 0; j < x.shape[2]; ++j) {
        const double weight =
            down[static_cast<size_t>(i)] * across[static_cast<size_t>(j)];
        if (weight == 0) continue;
        sum += weight * v[Flat(x.shape, {o[0], i, j, o[3]})];
      }
    }
    y.push_back(sum);
  });
  return y;
}

OpCase MakeCase(const Setting &s, const Value &x) {
  return OpCase("Resize")
      .Input(x)
      .String("mode", s.mode)
      .String("coordinates", s.coordinates)
      .String("rounding", s.rounding)
      .Int("exclude_outside", s.exclude_outside ? 1 : 0)
      .Int("antialias", s.antialias ? 1 : 0)
      .Float("cubic_coefficient", static_cast<float>(s.cubic));
}

// For rounding of weights and of two sums in float.
constexpr op_test::Tolerance kSums = {3e-6, 0};

void Check(const Setting &s, const Value &x, int64_t height, int64_t width) {
  SCOPED_TRACE(s.mode + " " + s.coordinates + " " + s.rounding + " " +
               x.shape.ToString() + " to " + std::to_string(height) + " x " +
               std::to_string(width));
  ExpectFloats(MakeCase(s, x).Ints("size", {height, width}),
               {x.shape[0], height, width, x.shape[3]},
               Reference(s, x, height, width),
               s.mode == "NEAREST" ? op_test::Tolerance() : kSums);
}

constexpr const char *kCoordinates[] = {"HALF_PIXEL", "ALIGN_CORNERS",
                                        "ASYMMETRIC", "PYTORCH_HALF_PIXEL",
                                        "HALF_PIXEL_FLOOR"};

TEST(ResizeTest, EveryModeAndCoordinates) {
  Random random(41);
  for (const char *mode : {"NEAREST", "LINEAR", "CUBIC"}) {
    for (const char *coordinates : kCoordinates) {
      Setting s;
      s.mode = mode;
      s.coordinates = coordinates;
      Check(s, random.Floats({2, 5, 4, 3}), 10, 7);
      Check(s, random.Floats({1, 7, 9, 17}), 3, 4);
      Check(s, random.Floats({1, 3, 1, 5}), 1, 6);
    }
  }
}

TEST(ResizeTest, EveryNumberOfChannels) {
  Random random(42);
  for (const char *mode : {"NEAREST", "LINEAR", "CUBIC"}) {
    for (const int64_t channels : {1, 2, 3, 4, 7, 8, 15, 16, 33, 64}) {
      Setting s;
      s.mode = mode;
      Check(s, random.Floats({1, 6, 5, channels}), 9, 13);
      Check(s, random.Floats({2, 6, 5, channels}), 6, 5);
    }
  }
}

TEST(ResizeTest, ComputesInFloatForSixteenBits) {
  Random random(46);
  for (const bool bf16 : {false, true}) {
    for (const char *mode : {"LINEAR", "CUBIC"}) {
      for (const int64_t channels : {3, 40, 600}) {
        Setting s;
        s.mode = mode;
        const Value x =
            op_test::RoundToHalf(random.Floats({2, 4, 3, channels}), bf16);
        ExpectFloats(MakeCase(s, x)
                         .Ints("size", {7, 5})
                         .ComputeIn(op_test::HalfPrecision(bf16)),
                     {2, 7, 5, channels}, Reference(s, x, 7, 5),
                     {kSums.absolute, op_test::HalfError(bf16)});
      }
    }
  }
}

TEST(ResizeTest, EveryRounding) {
  Random random(43);
  for (const char *rounding :
       {"PREFER_FLOOR", "PREFER_CEIL", "FLOOR", "CEIL"}) {
    for (const char *coordinates : kCoordinates) {
      Setting s;
      s.mode = "NEAREST";
      s.coordinates = coordinates;
      s.rounding = rounding;
      Check(s, random.Floats({1, 4, 6, 2}), 8, 4);
      Check(s, random.Floats({1, 3, 10, 1}), 7, 30);
    }
  }
}

TEST(ResizeTest, BordersAndAntialiasing) {
  Random random(44);
  for (const char *mode : {"LINEAR", "CUBIC"}) {
    for (const bool exclude_outside : {false, true}) {
      for (const bool antialias : {false, true}) {
        Setting s;
        s.mode = mode;
        s.exclude_outside = exclude_outside;
        s.antialias = antialias;
        s.cubic = -0.5;
        Check(s, random.Floats({1, 13, 40, 3}), 5, 3);
        Check(s, random.Floats({1, 9, 5, 20}), 4, 11);
      }
    }
  }
}

// Half a pixel in size, and more or less in position.
TEST(ResizeTest, Scales) {
  const Value x = Value::Floats({1, 1, 4, 1}, {1, 2, 3, 4});
  const OpCase linear = OpCase("Resize")
                            .Input(x)
                            .Floats("scales", {1, 0.6f})
                            .String("mode", "LINEAR");
  // 2 outputs of 2.4; the second at 1.5 / 0.6 - 0.5.
  ExpectFloats(linear, {1, 1, 2, 1}, {1.0 + (0.5 / 0.6 - 0.5), 3.0}, {1e-6, 0});
  // The last output is the last input, although 2 is not 4 * 0.6.
  ExpectFloats(OpCase(linear).String("coordinates", "ALIGN_CORNERS"),
               {1, 1, 2, 1}, {1, 4}, {1e-6, 0});
  // 2 of 2.4 outputs: half of 0.4 outputs is left out on either side.
  ExpectFloats(OpCase(linear).String("coordinates", "HALF_PIXEL_SYMMETRIC"),
               {1, 1, 2, 1},
               {1 + (2 * (1 - 2 / 2.4) + 0.5 / 0.6 - 0.5),
                1 + (2 * (1 - 2 / 2.4) + 1.5 / 0.6 - 0.5)},
               {1e-6, 0});
  // 10 * 0.7f is 7 in float; and output 3 k of a scale of a third is input k.
  ExpectValue(
      OpCase("Resize")
          .Input(Value::Ints({1, 1, 10, 1}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}))
          .Floats("scales", {1, 0.7f})
          .String("coordinates", "ASYMMETRIC")
          .String("rounding", "FLOOR"),
      Value::Ints({1, 1, 7, 1}, {0, 1, 2, 4, 5, 7, 8}));
  ExpectValue(OpCase("Resize")
                  .Input(Value::Ints({1, 1, 6, 1}, {0, 1, 2, 3, 4, 5}))
                  .Floats("scales", {1, 1.0f / 3})
                  .String("coordinates", "ASYMMETRIC")
                  .String("rounding", "FLOOR"),
              Value::Ints({1, 1, 2, 1}, {0, 3}));
  // Scales and size: 0.4 * 4 is 1.6, which a caller may round to 2.
  ExpectFloats(OpCase("Resize")
                   .Input(x)
                   .Ints("size", {1, 2})
                   .Floats("scales", {1, 0.4f})
                   .String("coordinates", "ASYMMETRIC")
                   .String("mode", "LINEAR"),
               {1, 1, 2, 1}, {1, 3.5}, {1e-6, 0});
}

// Corners are aligned by the sizes that scales make, in every mode.
TEST(ResizeTest, CornersOfFractionalScales) {
  Random random(47);
  struct Case {
    float down, across;
    int64_t height, width;
  };
  for (const char *mode : {"NEAREST", "LINEAR", "CUBIC"}) {
    for (const Case &c : {Case{1.5f, 1.5f, 10, 7}, Case{0.6f, 2.3f, 4, 11},
                          Case{1.0f, 0.35f, 7, 1}}) {
      Setting s;
      s.mode = mode;
      s.coordinates = "ALIGN_CORNERS";
      SCOPED_TRACE(testing::Message() << mode << " " << c.down);
      const Value x = random.Floats({2, 7, 5, 3});
      ExpectFloats(MakeCase(s, x).Floats("scales", {c.down, c.across}),
                   {2, c.height, c.width, 3},
                   Reference(s, x, c.height, c.width),
                   s.mode == "NEAREST" ? op_test::Tolerance() : kSums);
    }
  }
}

// The same session with other image sizes: the plan is made again.
TEST(ResizeTest, SizesChangeBetweenRuns) {
  Random random(45);
  Setting s;
  OpCase op_case =
      MakeCase(s, random.Floats({1, 3, 4, 2})).Known(Value::Ints({2}, {5, 6}));
  OpSession session(op_case, RunOptions());
  struct Step {
    Shape shape;
    int32_t height;
    int32_t width;
  };
  for (const Step &step : {Step{{1, 3, 4, 2}, 5, 6}, Step{{1, 3, 4, 2}, 2, 9},
                           Step{{2, 8, 4, 40}, 5, 6}, Step{{1, 3, 4, 2}, 0, 6},
                           Step{{1, 3, 4, 2}, 5, 6}}) {
    std::vector<CaseInput> inputs = op_case.inputs;
    inputs[0].value = random.Floats(step.shape);
    inputs[1].value = Value::Ints({2}, {step.height, step.width});
    const OpResult result = session.Run(inputs);
    ASSERT_EQ(result.status.code(), MaceStatus::MACE_SUCCESS)
        << result.status.information();
    EXPECT_EQ(result.violation, "");
    op_test::ExpectNear(result.outputs[0].floats(),
                        Reference(s, inputs[0].value, step.height, step.width),
                        kSums);
  }
}

// An element with weight 0 has no influence, not even if it is Inf or NaN.
TEST(ResizeTest, NanStaysInItsPlace) {
  const float nan = std::nanf("");
  ExpectFloats(OpCase("Resize")
                   .Input(Value::Floats({1, 3, 1, 1}, {1, nan, 3}))
                   .Ints("size", {5, 1})
                   .String("coordinates", "ALIGN_CORNERS")
                   .String("mode", "LINEAR"),
               {1, 5, 1, 1}, {1, nan, nan, nan, 3}, {});
}

TEST(ResizeTest, Errors) {
  const Value x = Value::Floats({1, 2, 3, 1}, std::vector<float>(6));
  const auto invalid = MaceStatus::MACE_INVALID_ARGS;
  const OpCase plain = OpCase("Resize").Input(x);
  ExpectError(plain, invalid, "neither a size nor scales");
  ExpectError(OpCase(plain).Ints("size", {2}), invalid, "size has 1 values");
  ExpectError(OpCase(plain).Ints("size", {0, 2}), invalid, "size");
  ExpectError(OpCase(plain).Floats("scales", {2}), invalid,
              "scales has 1 values");
  ExpectError(OpCase(plain).Floats("scales", {2, -1}), invalid, "above 0");
  ExpectError(OpCase(plain).Floats("scales", {2, INFINITY}), invalid,
              "above 0");
  ExpectError(OpCase(plain).Floats("scales", {1, 3e7f}), invalid, "width");
  ExpectError(OpCase(plain).Ints("size", {4, 4}).Floats("scales", {2, 2}),
              invalid, "not 3 times the scale 2");
  ExpectError(
      OpCase(plain).Known(Value::Ints({2}, {4, 4})).Ints("size", {4, 4}),
      invalid, "both an input and an attribute");
  ExpectError(OpCase(plain).Known(Value::Ints({3}, {4, 4, 4})), invalid,
              "not [2]");
  ExpectError(OpCase(plain).Known(Value::Ints({2}, {4, -4})), invalid, "width");
  ExpectError(OpCase(plain).Input(Value::Ints({2}, {4, 4})),
              MaceStatus::MACE_UNSUPPORTED, "not known before the run");
  ExpectError(OpCase("Resize")
                  .Input(Value::Ints({1, 1, 1, 1}, {1}))
                  .Ints("size", {2, 2})
                  .String("mode", "LINEAR"),
              MaceStatus::MACE_UNSUPPORTED, "does not support int32");
  ExpectError(OpCase("Resize")
                  .Input(Value::Floats({2, 3}, std::vector<float>(6)))
                  .Ints("size", {2, 2}),
              invalid, "[N, H, W, C]");
  ExpectError(OpCase("Resize")
                  .Input(Value::Floats({1, 0, 3, 1}, {}))
                  .Ints("size", {2, 2}),
              invalid, "the height from 0");
}

}  // namespace
}  // namespace mace
