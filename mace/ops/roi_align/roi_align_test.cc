// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
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
  bool largest = false;
  int64_t samples = 0;
  float scale = 1;
  bool half_pixel = false;
  int64_t height = 2;
  int64_t width = 3;
};

OpCase CaseOf(const Way &way,
              const Value &x,
              const Value &regions,
              const Value &images) {
  return OpCase("RoiAlign")
      .Input(x)
      .Input(regions)
      .Input(images)
      .Int("height", way.height)
      .Int("width", way.width)
      .String("mode", way.largest ? "MAX" : "AVG")
      .Int("samples", way.samples)
      .Float("scale", way.scale)
      .Int("half_pixel", way.half_pixel ? 1 : 0);
}

// The sample or the largest product at a position, as the specification says.
double SampleAt(const Way &way,
                const Shape &shape,
                const float *pixels,
                double y,
                double x,
                int64_t c) {
  const int64_t height = shape[1];
  const int64_t width = shape[2];
  if (y < -1 || y > static_cast<double>(height) || x < -1 ||
      x > static_cast<double>(width)) {
    return 0;
  }
  y = std::fmin(std::fmax(y, 0), static_cast<double>(height - 1));
  x = std::fmin(std::fmax(x, 0), static_cast<double>(width - 1));
  double sum = 0;
  double largest = -HUGE_VAL;
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t j = 0; j < 2; ++j) {
      const int64_t row = static_cast<int64_t>(y) + i;
      const int64_t column = static_cast<int64_t>(x) + j;
      const double weight =
          std::fmax(0, 1 - std::fabs(y - static_cast<double>(row))) *
          std::fmax(0, 1 - std::fabs(x - static_cast<double>(column)));
      const int64_t at =
          (std::min(row, height - 1) * width + std::min(column, width - 1)) *
              shape[3] +
          c;
      const double product = weight * static_cast<double>(pixels[at]);
      sum += product;
      largest = std::fmax(largest, product);
    }
  }
  return way.largest ? largest : sum;
}

double Expected(const Way &way,
                const Shape &shape,
                const float *pixels,
                const float *region,
                int64_t y,
                int64_t x,
                int64_t c) {
  double low[2];
  double step[2];
  int64_t samples[2];
  const int64_t outputs[2] = {way.height, way.width};
  for (int a = 0; a < 2; ++a) {
    const double offset = way.half_pixel ? 0.5 : 0;
    const auto scale = static_cast<double>(way.scale);
    low[a] = static_cast<double>(region[1 - a]) * scale - offset;
    double extent =
        static_cast<double>(region[3 - a]) * scale - offset - low[a];
    if (!way.half_pixel) extent = std::fmax(extent, 1);
    step[a] = extent / static_cast<double>(outputs[a]);
    samples[a] = way.samples > 0 ? way.samples
                                 : static_cast<int64_t>(std::ceil(step[a]));
  }
  double sum = 0;
  double largest = -HUGE_VAL;
  int64_t count = 0;
  for (int64_t i = 0; i < samples[0]; ++i) {
    for (int64_t j = 0; j < samples[1]; ++j) {
      const auto place = [&](int a, int64_t output, int64_t sample) {
        return low[a] + static_cast<double>(output) * step[a] +
               (static_cast<double>(sample) + 0.5) * step[a] /
                   static_cast<double>(samples[a]);
      };
      const double value =
          SampleAt(way, shape, pixels, place(0, y, i), place(1, x, j), c);
      sum += value;
      largest = std::fmax(largest, value);
      ++count;
    }
  }
  if (count == 0) return 0;
  return way.largest ? largest : sum / static_cast<double>(count);
}

void Check(const Way &way, const Value &x, const Value &regions) {
  SCOPED_TRACE(testing::Message() << way.largest << way.samples << way.scale
                                  << way.half_pixel << x.shape.ToString());
  const int64_t count = regions.shape[0];
  std::vector<int32_t> images;
  for (int64_t i = 0; i < count; ++i) {
    images.push_back(static_cast<int32_t>(i % x.shape[0]));
  }
  const std::vector<float> pixels = x.floats();
  const std::vector<float> all = regions.floats();
  const int64_t size = x.shape.Elements(1, 4);
  const Shape shape = {count, way.height, way.width, x.shape[3]};
  std::vector<double> expected;
  for (int64_t i = 0; i < shape.Elements(); ++i) {
    const int64_t c = i % shape[3];
    const int64_t column = i / shape[3] % way.width;
    const int64_t row = i / shape[3] / way.width % way.height;
    const int64_t region = i / shape.Elements(1, 4);
    expected.push_back(Expected(way, x.shape,
                                pixels.data() + images[region] * size,
                                all.data() + region * 4, row, column, c));
  }
  // A position is a float of up to 40, and neighbours differ by up to 2.
  ExpectFloats(CaseOf(way, x, regions, Value::Ints({count}, images)), shape,
               expected, {40 * 0x1p-20, 0});
}

TEST(RoiAlignOpTest, SamplesRegions) {
  Random random(1);
  // Inside, across borders, outside, small, and turned around.
  const Value regions = Value::Floats(
      {6, 4}, {1.1f, 2.2f, 5.3f,  6.4f,  -3.1f, -2.2f, 3.3f,  2.4f,
               6.7f, 5.1f, 19.2f, 17.3f, 30.1f, 3.1f,  39.2f, 5.3f,
               2.3f, 3.4f, 2.4f,  3.5f,  5.3f,  6.1f,  3.2f,  2.2f});
  for (const bool largest : {false, true}) {
    for (const bool half_pixel : {false, true}) {
      // Also more samples than are summed at once.
      for (const int64_t samples : {0, 1, 2, 5}) {
        for (const int64_t channels : {1, 21}) {
          Check({largest, samples, 1, half_pixel},
                random.Floats({2, 9, 8, channels}), regions);
        }
        Check({largest, samples, 0.27f, half_pixel, 1, 1},
              random.Floats({1, 3, 4, 2}), regions);
      }
    }
  }
}

TEST(RoiAlignOpTest, TakesAnyNumber) {
  const float inf = HUGE_VALF;
  const Value x = Value::Floats({1, 1, 1, 1}, {3});
  Way way;
  way.height = way.width = 1;
  for (const float y : {static_cast<float>(NAN), inf, -inf, 3e38f, -3e38f}) {
    ExpectFloats(CaseOf(way, x, Value::Floats({1, 4}, {0, y, 1, y}),
                        Value::Ints({1}, {0})),
                 {1, 1, 1, 1}, {0}, {0, 0});
  }
  for (const int32_t image : {-1, 1, INT32_MAX, INT32_MIN}) {
    ExpectFloats(CaseOf(way, x, Value::Floats({1, 4}, {0, 0, 1, 1}),
                        Value::Ints({1}, {image})),
                 {1, 1, 1, 1}, {0}, {0, 0});
  }
}

TEST(RoiAlignOpTest, WithoutImagesAllRegionsAreOfTheFirstOne) {
  ExpectFloats(OpCase("RoiAlign")
                   .Input(Value::Floats({2, 1, 1, 1}, {3, 5}))
                   .Input(Value::Floats({1, 2, 4}, {0, 0, 1, 1, 0, 0, 2, 2}))
                   .Int("height", 1)
                   .Int("width", 1),
               {2, 1, 1, 1}, {3, 0.75}, {0, 0});
}

TEST(RoiAlignOpTest, Errors) {
  const auto error = [](const Shape &x, const Shape &regions,
                        const Shape &images, const char *text) {
    Random random(2);
    ExpectError(CaseOf(Way(), random.Floats(x), random.Floats(regions),
                       random.Ints(images, 0, 0)),
                MaceStatus::MACE_INVALID_ARGS, text);
  };
  error({2, 2, 1}, {1, 4}, {1}, "the input has the shape [2, 2, 1]");
  error({1, 2, 2, 1}, {1, 5}, {1},
        "regions have the shape [1, 5]; it must be [..., 4]");
  error({1, 2, 2, 1}, {1, 4}, {2},
        "images have the shape [2], but there are 1 regions");
}

}  // namespace
}  // namespace mace
