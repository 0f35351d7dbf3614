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

struct Way {
  bool by_place = false;
  float scale = 1;
  int64_t height = 2;
  int64_t width = 3;
};

OpCase CaseOf(const Way &way,
              const Value &x,
              const Value &regions,
              const Value &images) {
  return OpCase("RoiPool")
      .Input(x)
      .Input(regions)
      .Input(images)
      .Int("height", way.height)
      .Int("width", way.width)
      .String("mode", way.by_place ? "POSITION_SENSITIVE" : "MAX")
      .Float("scale", way.scale);
}

// Sets the first and the last element of an output along an axis.
void SetWindow(const Way &way,
               double low,
               double high,
               int64_t place,
               int64_t outputs,
               int64_t length,
               int64_t *window) {
  const auto scale = static_cast<double>(way.scale);
  const auto count = static_cast<double>(outputs);
  double start = std::round(low * scale);
  double extent = std::fmax(std::round(high * scale) - start + 1, 1);
  if (way.by_place) {
    start = std::round(low) * scale;
    extent = std::fmax((std::round(high) + 1) * scale - start, 0.1);
  }
  const auto at = [&](int64_t n) {
    return start + static_cast<double>(n) * extent / count;
  };
  // The test's regions have no border of a window that is nearly an integer.
  const double begin = std::floor(at(place) + 1e-4);
  const double end = std::ceil(at(place + 1) - 1e-4);
  const auto limit = static_cast<double>(length);
  window[0] = static_cast<int64_t>(std::fmin(std::fmax(begin, 0), limit));
  window[1] = static_cast<int64_t>(std::fmin(std::fmax(end, 0), limit));
}

void Check(const Way &way, const Value &x, const Value &regions) {
  SCOPED_TRACE(testing::Message()
               << way.by_place << way.scale << x.shape.ToString());
  const int64_t count = regions.shape[0];
  std::vector<int32_t> images;
  for (int64_t i = 0; i < count; ++i) {
    images.push_back(static_cast<int32_t>(i % x.shape[0]));
  }
  const std::vector<float> pixels = x.floats();
  const std::vector<float> all = regions.floats();
  const int64_t places = way.by_place ? way.height * way.width : 1;
  const Shape shape = {count, way.height, way.width, x.shape[3] / places};
  std::vector<double> expected;
  for (int64_t i = 0; i < shape.Elements(); ++i) {
    const int64_t d = i % shape[3];
    const int64_t column = i / shape[3] % way.width;
    const int64_t row = i / shape[3] / way.width % way.height;
    const int64_t region = i / shape.Elements(1, 4);
    int64_t rows[2];
    int64_t columns[2];
    const float *box = all.data() + region * 4;
    SetWindow(way, static_cast<double>(box[1]), static_cast<double>(box[3]),
              row, way.height, x.shape[1], rows);
    SetWindow(way, static_cast<double>(box[0]), static_cast<double>(box[2]),
              column, way.width, x.shape[2], columns);
    const int64_t c = way.by_place ? d * places + row * way.width + column : d;
    double sum = 0;
    double largest = -HUGE_VAL;
    int64_t elements = 0;
    for (int64_t y = rows[0]; y < rows[1]; ++y) {
      for (int64_t z = columns[0]; z < columns[1]; ++z) {
        const int64_t at =
            ((images[region] * x.shape[1] + y) * x.shape[2] + z) * x.shape[3] +
            c;
        const auto value = static_cast<double>(pixels[at]);
        sum += value;
        largest = std::fmax(largest, value);
        ++elements;
      }
    }
    const double mean =
        sum / static_cast<double>(std::max<int64_t>(elements, 1));
    const double most = elements == 0 ? 0 : largest;
    expected.push_back(way.by_place ? mean : most);
  }
  // A mean of up to 72 elements of at most 1.
  ExpectFloats(CaseOf(way, x, regions, Value::Ints({count}, images)), shape,
               expected, {way.by_place ? 72 * 0x1p-23 : 0, 0});
}

TEST(RoiPoolOpTest, PoolsRegions) {
  Random random(1);
  // Inside, across borders, outside, small, and turned around.
  const Value regions = Value::Floats(
      {6, 4}, {1.1f, 2.2f, 5.3f,  6.4f,  -3.1f, -2.2f, 3.3f,  2.4f,
               6.7f, 5.1f, 19.2f, 17.3f, 30.1f, 3.1f,  39.2f, 5.3f,
               2.3f, 3.4f, 2.4f,  3.6f,  5.3f,  6.1f,  3.2f,  2.2f});
  for (const bool by_place : {false, true}) {
    for (const int64_t channels : {6, 18, 42}) {
      Check({by_place}, random.Floats({2, 9, 8, channels}), regions);
      Check({by_place, 0.27f}, random.Floats({1, 3, 4, channels}), regions);
      Check({by_place, 0.5f, 1, 1}, random.Floats({3, 9, 8, channels}),
            regions);
      Check({by_place, 0.5f, 3, 2}, random.Floats({3, 9, 8, channels}),
            regions);
    }
  }
}

TEST(RoiPoolOpTest, HalvesAreRoundedAwayFromZero) {
  const Value x = Value::Floats({1, 1, 4, 1}, {1, 2, 3, 4});
  Way way;
  way.height = way.width = 1;
  const auto expect = [&](float low, float high, double expected) {
    ExpectFloats(CaseOf(way, x, Value::Floats({1, 4}, {low, 0, high, 0}),
                        Value::Ints({1}, {0})),
                 {1, 1, 1, 1}, {expected}, {0, 0});
  };
  expect(0, 1.5f, 3);
  expect(0, 1.49999988f, 2);
  expect(0, 0.49999997f, 1);
  expect(-2, -0.5f, 0);
  expect(-2, -0.49f, 1);
}

TEST(RoiPoolOpTest, TakesAnyNumber) {
  const float inf = HUGE_VALF;
  const Value x = Value::Floats({1, 1, 1, 1}, {3});
  for (const bool by_place : {false, true}) {
    Way way;
    way.height = way.width = 1;
    way.by_place = by_place;
    for (const float y : {inf, -inf, 3e38f, -3e38f}) {
      ExpectFloats(CaseOf(way, x, Value::Floats({1, 4}, {0, y, 0, y}),
                          Value::Ints({1}, {0})),
                   {1, 1, 1, 1}, {0}, {0, 0});
    }
    for (const int32_t image : {-1, 1, INT32_MAX, INT32_MIN}) {
      ExpectFloats(CaseOf(way, x, Value::Floats({1, 4}, {0, 0, 1, 1}),
                          Value::Ints({1}, {image})),
                   {1, 1, 1, 1}, {0}, {0, 0});
    }
  }
}

TEST(RoiPoolOpTest, WithoutImagesAllRegionsAreOfTheFirstOne) {
  ExpectFloats(OpCase("RoiPool")
                   .Input(Value::Floats({2, 1, 1, 1}, {3, 5}))
                   .Input(Value::Floats({1, 2, 4}, {0, 0, 1, 1, 1, 0, 2, 2}))
                   .Int("height", 1)
                   .Int("width", 1),
               {2, 1, 1, 1}, {3, 0}, {0, 0});
}

TEST(RoiPoolOpTest, Errors) {
  const auto error = [](const Way &way, const Shape &x, const Shape &regions,
                        const Shape &images, const char *text) {
    Random random(2);
    ExpectError(CaseOf(way, random.Floats(x), random.Floats(regions),
                       random.Ints(images, 0, 0)),
                MaceStatus::MACE_INVALID_ARGS, text);
  };
  error(Way(), {2, 2, 1}, {1, 4}, {1}, "the input has the shape [2, 2, 1]");
  error(Way(), {1, 2, 2, 1}, {1, 5}, {1},
        "regions have the shape [1, 5]; it must be [..., 4]");
  error(Way(), {1, 2, 2, 1}, {1, 4}, {2},
        "images have the shape [2], but there are 1 regions");
  error({true}, {1, 2, 2, 7}, {1, 4}, {1},
        "7 channels are no multiple of 6 places of an output");
}

}  // namespace
}  // namespace mace
