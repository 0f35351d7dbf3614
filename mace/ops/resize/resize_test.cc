// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
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

void CheckResize(const Setting &s,
                 const Value &x,
                 int64_t height,
                 int64_t width) {
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
      CheckResize(s, random.Floats({2, 5, 4, 3}), 10, 7);
      CheckResize(s, random.Floats({1, 7, 9, 17}), 3, 4);
      CheckResize(s, random.Floats({1, 3, 1, 5}), 1, 6);
    }
  }
}

TEST(ResizeTest, EveryNumberOfChannels) {
  Random random(42);
  for (const char *mode : {"NEAREST", "LINEAR", "CUBIC"}) {
    for (const int64_t channels : {1, 2, 3, 4, 7, 8, 15, 16, 33, 64}) {
      Setting s;
      s.mode = mode;
      CheckResize(s, random.Floats({1, 6, 5, channels}), 9, 13);
      CheckResize(s, random.Floats({2, 6, 5, channels}), 6, 5);
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
      CheckResize(s, random.Floats({1, 4, 6, 2}), 8, 4);
      CheckResize(s, random.Floats({1, 3, 10, 1}), 7, 30);
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
        CheckResize(s, random.Floats({1, 13, 40, 3}), 5, 3);
        CheckResize(s, random.Floats({1, 9, 5, 20}), 4, 11);
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

struct Way {
  std::string mode;
  std::string padding;
  bool align;
};

double WeightOf(const std::string &mode, double distance) {
  const double d = std::fabs(distance);
  if (mode == "LINEAR") return d < 1 ? 1 - d : 0;
  constexpr double a = -0.75;
  if (d < 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

// Walks from border to border.
double Reflect(double x, double low, double high) {
  if (low == high) return 0;
  while (x < low || x > high) x = x < low ? 2 * low - x : 2 * high - x;
  return x;
}

// The value of an image [length...][channels] at a position, as the sum over
// all elements that are near it, inside or outside.
double Expected(const Way &way,
                const Shape &image,
                const float *pixels,
                const std::vector<double> &places,
                int64_t channel) {
  const size_t axes = places.size();
  std::vector<double> at(axes);
  std::vector<double> low(axes, way.align ? 0 : -0.5);
  std::vector<double> high(axes);
  for (size_t a = 0; a < axes; ++a) {
    const auto length = static_cast<double>(image[a + 1]);
    const double place = places[axes - 1 - a];
    at[a] = way.align ? (place + 1) / 2 * (length - 1)
                      : ((place + 1) * length - 1) / 2;
    high[a] = length - (way.align ? 1 : 0.5);
    if (way.mode == "NEAREST") at[a] = std::nearbyint(at[a]);
    if (at[a] < low[a] || at[a] > high[a]) {
      if (way.padding == "BORDER" && way.mode != "CUBIC")
        at[a] = at[a] < low[a] ? 0 : length - 1;
      if (way.padding == "REFLECTION") at[a] = Reflect(at[a], low[a], high[a]);
    }
  }
  double sum = 0;
  const int reach = way.mode == "NEAREST" ? 1 : 4;
  int64_t combinations = 1;
  for (size_t a = 0; a < axes; ++a) combinations *= reach;
  for (int64_t n = 0; n < combinations; ++n) {
    double weight = 1;
    int64_t index = 0;
    int64_t rest = n;
    bool outside = false;
    for (size_t a = 0; a < axes; ++a) {
      const double tap =
          way.mode == "NEAREST"
              ? at[a]
              : std::floor(at[a]) - 1 + static_cast<double>(rest % reach);
      rest /= reach;
      if (way.mode != "NEAREST") weight *= WeightOf(way.mode, tap - at[a]);
      const auto last = static_cast<double>(image[a + 1] - 1);
      double element = tap;
      if (way.padding == "ZEROS") outside |= tap < 0 || tap > last;
      if (way.padding == "REFLECTION") element = Reflect(tap, low[a], high[a]);
      element = std::fmin(std::fmax(std::trunc(element), 0), last);
      index = index * image[a + 1] + static_cast<int64_t>(element);
    }
    if (!outside) {
      sum +=
          weight * static_cast<double>(pixels[index * image.back() + channel]);
    }
  }
  return sum;
}

OpCase CaseOf(const Way &way, const Value &image, const Value &grid) {
  return OpCase("GridSample")
      .Input(image)
      .Input(grid)
      .String("mode", way.mode)
      .String("padding", way.padding)
      .Int("align_corners", way.align ? 1 : 0);
}

void CheckGridSample(const Way &way, const Value &image, const Value &grid) {
  SCOPED_TRACE(testing::Message() << way.mode << way.padding << way.align
                                  << image.shape.ToString());
  Shape shape = grid.shape;
  const size_t axes = shape.rank() - 2;
  const int64_t channels = image.shape.back();
  shape[shape.rank() - 1] = channels;
  const std::vector<float> pixels = image.floats();
  const std::vector<float> places = grid.floats();
  const int64_t points = grid.shape.Elements(1, shape.rank() - 1);
  const int64_t size = image.shape.Elements(1, shape.rank());
  std::vector<double> expected;
  for (int64_t i = 0; i < shape[0] * points; ++i) {
    const auto first = places.begin() + i * static_cast<int64_t>(axes);
    const std::vector<double> place(first, first + static_cast<int64_t>(axes));
    for (int64_t c = 0; c < channels; ++c) {
      expected.push_back(Expected(way, image.shape,
                                  pixels.data() + i / points * size, place, c));
    }
  }
  // A position is a float of up to 40, and neighbours differ by up to 2, along
  // up to three axes; cubic weights have slopes of up to 1.5.
  ExpectFloats(CaseOf(way, image, grid), shape, expected, {40 * 0x1p-20, 0});
}

// Far outside, at distances from all ties.
Value RandomGrid(const Shape &shape, Random *random) {
  std::vector<float> places;
  for (int64_t i = 0; i < shape.Elements(); ++i) {
    places.push_back(static_cast<float>(random->Int(-45, 45)) / 16 + 0.013f);
  }
  return Value::Floats(shape, places);
}

TEST(GridSampleOpTest, SamplesImages) {
  Random random(1);
  for (const char *mode : {"NEAREST", "LINEAR", "CUBIC"}) {
    for (const char *padding : {"ZEROS", "BORDER", "REFLECTION"}) {
      for (const bool align : {false, true}) {
        const Way way = {mode, padding, align};
        // Fewer channels than a vector has, and more, with a remainder.
        for (const int64_t channels : {1, 3, 37}) {
          CheckGridSample(way, random.Floats({2, 5, 7, channels}),
                          RandomGrid({2, 6, 5, 2}, &random));
        }
        CheckGridSample(way, random.Floats({1, 1, 2, 3}),
                        RandomGrid({1, 3, 9, 2}, &random));
      }
    }
  }
}

TEST(GridSampleOpTest, SamplesVolumes) {
  Random random(2);
  for (const char *mode : {"NEAREST", "LINEAR"}) {
    for (const char *padding : {"ZEROS", "BORDER", "REFLECTION"}) {
      for (const bool align : {false, true}) {
        const Way way = {mode, padding, align};
        for (const int64_t channels : {2, 17}) {
          CheckGridSample(way, random.Floats({2, 3, 4, 5, channels}),
                          RandomGrid({2, 2, 3, 4, 3}, &random));
        }
      }
    }
  }
}

// What is not read has no effect, and positions that are no numbers are not
// outside memory.
TEST(GridSampleOpTest, TakesAnyNumber) {
  const float inf = HUGE_VALF;
  const Value image = Value::Floats({1, 1, 2, 1}, {1, 2});
  const Value wild = Value::Floats({1, 1, 2, 1}, {inf, 2});
  const Value grid = Value::Floats(
      {1, 1, 5, 2}, {NAN, 0, inf, 0, -inf, 0, 3e38f, 0, -3e38f, 0});
  for (const char *mode : {"NEAREST", "LINEAR", "CUBIC"}) {
    ExpectFloats(CaseOf({mode, "ZEROS", true}, wild, grid), {1, 1, 5, 1},
                 {0, 0, 0, 0, 0}, {0, 0});
    ExpectFloats(CaseOf({mode, "BORDER", true}, image, grid), {1, 1, 5, 1},
                 {1, 2, 1, 2, 1}, {0, 0});
  }
  ExpectFloats(CaseOf({"NEAREST", "REFLECTION", true}, image,
                      Value::Floats({1, 1, 3, 2}, {NAN, 0, inf, 0, -inf, 0})),
               {1, 1, 3, 1}, {1, 1, 1}, {0, 0});
}

TEST(GridSampleOpTest, OfTwoNearestElementsItTakesTheEvenOne) {
  const Value image = Value::Floats({1, 1, 5, 1}, {0, 1, 2, 3, 4});
  ExpectFloats(CaseOf({"NEAREST", "ZEROS", true}, image,
                      Value::Floats({1, 1, 4, 2}, {-0.75f, 0, -0.25f, 0, 0.25f,
                                                   0, 0.75f, 0})),
               {1, 1, 4, 1}, {0, 2, 2, 4}, {0, 0});
}

TEST(GridSampleOpTest, Errors) {
  const auto error = [](const Shape &image, const Shape &grid, const char *mode,
                        const char *text) {
    Random random(3);
    ExpectError(CaseOf({mode, "ZEROS", false}, random.Floats(image),
                       random.Floats(grid)),
                MaceStatus::MACE_INVALID_ARGS, text);
  };
  error({1, 2, 2}, {1, 2, 2}, "LINEAR",
        "an image of 3 dimensions; 4 and 5 are supported");
  error({1, 2, 2, 2, 1}, {1, 2, 2, 2, 3}, "CUBIC",
        "mode CUBIC takes images of 4 dimensions only");
  error({1, 2, 2, 1}, {2, 2, 2, 2}, "LINEAR",
        "a grid of shape [2, 2, 2, 2] does not fit an image of shape "
        "[1, 2, 2, 1]");
  error({1, 2, 2, 1}, {1, 2, 2, 3}, "LINEAR", "does not fit");
  error({1, 0, 2, 1}, {1, 2, 2, 2}, "LINEAR", "an image without pixels");
}

}  // namespace
}  // namespace mace
