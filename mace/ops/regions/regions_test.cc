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
using op_test::ExpectValues;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

struct RoiAlignWay {
  bool largest = false;
  int64_t samples = 0;
  float scale = 1;
  bool half_pixel = false;
  int64_t height = 2;
  int64_t width = 3;
};

OpCase RoiAlignCase(const RoiAlignWay &way,
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
double SampleAt(const RoiAlignWay &way,
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

double Expected(const RoiAlignWay &way,
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

void CheckRoiAlign(const RoiAlignWay &way,
                   const Value &x,
                   const Value &regions) {
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
  ExpectFloats(RoiAlignCase(way, x, regions, Value::Ints({count}, images)),
               shape, expected, {40 * 0x1p-20, 0});
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
          CheckRoiAlign({largest, samples, 1, half_pixel},
                        random.Floats({2, 9, 8, channels}), regions);
        }
        CheckRoiAlign({largest, samples, 0.27f, half_pixel, 1, 1},
                      random.Floats({1, 3, 4, 2}), regions);
      }
    }
  }
}

TEST(RoiAlignOpTest, TakesAnyNumber) {
  const float inf = HUGE_VALF;
  const Value x = Value::Floats({1, 1, 1, 1}, {3});
  RoiAlignWay way;
  way.height = way.width = 1;
  for (const float y : {static_cast<float>(NAN), inf, -inf, 3e38f, -3e38f}) {
    ExpectFloats(RoiAlignCase(way, x, Value::Floats({1, 4}, {0, y, 1, y}),
                              Value::Ints({1}, {0})),
                 {1, 1, 1, 1}, {0}, {0, 0});
  }
  for (const int32_t image : {-1, 1, INT32_MAX, INT32_MIN}) {
    ExpectFloats(RoiAlignCase(way, x, Value::Floats({1, 4}, {0, 0, 1, 1}),
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
    ExpectError(RoiAlignCase(RoiAlignWay(), random.Floats(x),
                             random.Floats(regions), random.Ints(images, 0, 0)),
                MaceStatus::MACE_INVALID_ARGS, text);
  };
  error({2, 2, 1}, {1, 4}, {1}, "the input has the shape [2, 2, 1]");
  error({1, 2, 2, 1}, {1, 5}, {1},
        "regions have the shape [1, 5]; it must be [..., 4]");
  error({1, 2, 2, 1}, {1, 4}, {2},
        "images have the shape [2], but there are 1 regions");
}

struct RoiPoolWay {
  bool by_place = false;
  float scale = 1;
  int64_t height = 2;
  int64_t width = 3;
};

OpCase RoiPoolCase(const RoiPoolWay &way,
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
void SetWindow(const RoiPoolWay &way,
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

void CheckRoiPool(const RoiPoolWay &way, const Value &x, const Value &regions) {
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
  ExpectFloats(RoiPoolCase(way, x, regions, Value::Ints({count}, images)),
               shape, expected, {way.by_place ? 72 * 0x1p-23 : 0, 0});
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
      CheckRoiPool({by_place}, random.Floats({2, 9, 8, channels}), regions);
      CheckRoiPool({by_place, 0.27f}, random.Floats({1, 3, 4, channels}),
                   regions);
      CheckRoiPool({by_place, 0.5f, 1, 1}, random.Floats({3, 9, 8, channels}),
                   regions);
      CheckRoiPool({by_place, 0.5f, 3, 2}, random.Floats({3, 9, 8, channels}),
                   regions);
    }
  }
}

TEST(RoiPoolOpTest, HalvesAreRoundedAwayFromZero) {
  const Value x = Value::Floats({1, 1, 4, 1}, {1, 2, 3, 4});
  RoiPoolWay way;
  way.height = way.width = 1;
  const auto expect = [&](float low, float high, double expected) {
    ExpectFloats(RoiPoolCase(way, x, Value::Floats({1, 4}, {low, 0, high, 0}),
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
    RoiPoolWay way;
    way.height = way.width = 1;
    way.by_place = by_place;
    for (const float y : {inf, -inf, 3e38f, -3e38f}) {
      ExpectFloats(RoiPoolCase(way, x, Value::Floats({1, 4}, {0, y, 0, y}),
                               Value::Ints({1}, {0})),
                   {1, 1, 1, 1}, {0}, {0, 0});
    }
    for (const int32_t image : {-1, 1, INT32_MAX, INT32_MIN}) {
      ExpectFloats(RoiPoolCase(way, x, Value::Floats({1, 4}, {0, 0, 1, 1}),
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
  const auto error = [](const RoiPoolWay &way, const Shape &x,
                        const Shape &regions, const Shape &images,
                        const char *text) {
    Random random(2);
    ExpectError(RoiPoolCase(way, random.Floats(x), random.Floats(regions),
                            random.Ints(images, 0, 0)),
                MaceStatus::MACE_INVALID_ARGS, text);
  };
  error(RoiPoolWay(), {2, 2, 1}, {1, 4}, {1},
        "the input has the shape [2, 2, 1]");
  error(RoiPoolWay(), {1, 2, 2, 1}, {1, 5}, {1},
        "regions have the shape [1, 5]; it must be [..., 4]");
  error(RoiPoolWay(), {1, 2, 2, 1}, {1, 4}, {2},
        "images have the shape [2], but there are 1 regions");
  error({true}, {1, 2, 2, 7}, {1, 4}, {1},
        "7 channels are no multiple of 6 places of an output");
}

struct Limits {
  int64_t max_boxes = 10;
  float iou = 0.5f;
  float score = -1e30f;
  bool center = false;
};

OpCase NonMaxSuppressionCase(const Value &boxes,
                             const Value &scores,
                             const Limits &limits) {
  return OpCase("NonMaxSuppression", 2)
      .Input(boxes)
      .Input(scores)
      .Int("max_boxes", limits.max_boxes)
      .Float("iou_threshold", limits.iou)
      .Float("score_threshold", limits.score)
      .Int("center_box", limits.center ? 1 : 0);
}

double Overlap(const float *a, const float *b, bool center) {
  double shared = 1;
  double areas[2] = {1, 1};
  for (int i = 0; i < 2; ++i) {
    double low[2];
    double high[2];
    int k = 0;
    for (const float *box : {a, b}) {
      double from = static_cast<double>(box[i]);
      double to = static_cast<double>(box[i + 2]);
      if (center) {
        const double size = to;
        to = from + size / 2;
        from -= size / 2;
      }
      low[k] = std::fmin(from, to);
      high[k] = std::fmax(from, to);
      areas[k] *= high[k] - low[k];
      ++k;
    }
    shared *=
        std::fmax(0, std::fmin(high[0], high[1]) - std::fmax(low[0], low[1]));
  }
  return shared == 0 ? 0 : shared / (areas[0] + areas[1] - shared);
}

// Takes the best box that is left and removes those that overlap it, until
// there are none.
void CheckNonMaxSuppression(const Value &boxes,
                            const Value &scores,
                            const Limits &limits) {
  const int64_t classes = scores.shape[1];
  const int64_t count = scores.shape[2];
  const std::vector<float> corners = boxes.floats();
  const std::vector<float> all = scores.floats();
  std::vector<int32_t> rows;
  for (int64_t list = 0; list < scores.shape[0] * classes; ++list) {
    const float *box = corners.data() + list / classes * count * 4;
    std::vector<float> left(all.begin() + list * count,
                            all.begin() + (list + 1) * count);
    for (int64_t n = 0; n < limits.max_boxes; ++n) {
      int64_t best = -1;
      for (int64_t i = 0; i < count; ++i) {
        if (left[i] > limits.score && (best < 0 || left[i] > left[best])) {
          best = i;
        }
      }
      if (best < 0) break;
      rows.insert(rows.end(), {static_cast<int32_t>(list / classes),
                               static_cast<int32_t>(list % classes),
                               static_cast<int32_t>(best)});
      for (int64_t i = 0; i < count; ++i) {
        if (Overlap(box + best * 4, box + i * 4, limits.center) >
            static_cast<double>(limits.iou)) {
          left[i] = -HUGE_VALF;
        }
      }
      left[best] = -HUGE_VALF;
    }
  }
  const auto found = static_cast<int32_t>(rows.size() / 3);
  const int64_t most =
      scores.shape[0] * classes * std::min(limits.max_boxes, count);
  rows.resize(static_cast<size_t>(most) * 3, 0);
  ExpectValues(NonMaxSuppressionCase(boxes, scores, limits),
               {Value::Ints({most, 3}, rows), Value::Ints({1}, {found})});
}

TEST(NonMaxSuppressionOpTest, SelectsBoxes) {
  Random random(1);
  for (const bool center : {false, true}) {
    for (const int64_t count : {0, 1, 7, 150}) {
      for (const int64_t most : {0, 3, 1000}) {
        SCOPED_TRACE(testing::Message()
                     << center << " " << count << " " << most);
        const Value boxes = random.Floats({2, count, 4}, 0.0f, 1.0f);
        const Value scores = random.Floats({2, 3, count});
        CheckNonMaxSuppression(boxes, scores, {most, 0.3f, -1e30f, center});
        CheckNonMaxSuppression(boxes, scores, {most, 0.7f, 0.25f, center});
      }
    }
  }
}

TEST(NonMaxSuppressionOpTest, EqualScoresAreTakenInOrder) {
  const Value boxes = Value::Floats(
      {1, 4, 4}, {0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5});
  // -0 equals 0, and NaN is no score.
  ExpectValues(
      NonMaxSuppressionCase(
          boxes, Value::Floats({1, 1, 4}, {0.0f, NAN, -0.0f, 0.5f}), Limits()),
      {Value::Ints({4, 3}, {0, 0, 3, 0, 0, 0, 0, 0, 2, 0, 0, 0}),
       Value::Ints({1}, {3})});
}

TEST(NonMaxSuppressionOpTest, BoxesWithoutAreaOverlapNone) {
  const Value boxes =
      Value::Floats({1, 3, 4}, {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 1});
  ExpectValues(NonMaxSuppressionCase(boxes, Value::Floats({1, 1, 3}, {3, 2, 1}),
                                     {3, 0, 0, false}),
               {Value::Ints({3, 3}, {0, 0, 0, 0, 0, 1, 0, 0, 2}),
                Value::Ints({1}, {3})});
}

TEST(NonMaxSuppressionOpTest, AnOverlapOfTheThresholdIsAllowed) {
  const Value boxes = Value::Floats({1, 2, 4}, {0, 0, 1, 2, 0, 0, 1, 1});
  const Value scores = Value::Floats({1, 1, 2}, {2, 1});
  ExpectValues(
      NonMaxSuppressionCase(boxes, scores, {2, 0.5f, 0, false}),
      {Value::Ints({2, 3}, {0, 0, 0, 0, 0, 1}), Value::Ints({1}, {2})});
  ExpectValues(
      NonMaxSuppressionCase(boxes, scores, {2, 0.49f, 0, false}),
      {Value::Ints({2, 3}, {0, 0, 0, 0, 0, 0}), Value::Ints({1}, {1})});
}

TEST(NonMaxSuppressionOpTest, Errors) {
  const auto error = [](const Shape &boxes, const Shape &scores) {
    Random random(2);
    ExpectError(NonMaxSuppressionCase(random.Floats(boxes),
                                      random.Floats(scores), Limits()),
                MaceStatus::MACE_INVALID_ARGS,
                "they must be [N, B, 4] and [N, C, B]");
  };
  error({1, 3, 5}, {1, 1, 3});
  error({1, 3, 4}, {1, 1, 4});
  error({2, 3, 4}, {1, 1, 3});
  error({3, 4}, {1, 1, 3});
  error({1, 3, 4}, {1, 3});
}

}  // namespace
}  // namespace mace
