// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectFloats;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

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

void Check(const Way &way, const Value &image, const Value &grid) {
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
          Check(way, random.Floats({2, 5, 7, channels}),
                RandomGrid({2, 6, 5, 2}, &random));
        }
        Check(way, random.Floats({1, 1, 2, 3}),
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
          Check(way, random.Floats({2, 3, 4, 5, channels}),
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
