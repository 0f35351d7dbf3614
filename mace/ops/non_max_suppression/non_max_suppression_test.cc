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
using op_test::ExpectValues;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

struct Limits {
  int64_t max_boxes = 10;
  float iou = 0.5f;
  float score = -1e30f;
  bool center = false;
};

OpCase CaseOf(const Value &boxes, const Value &scores, const Limits &limits) {
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
void Check(const Value &boxes, const Value &scores, const Limits &limits) {
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
  ExpectValues(CaseOf(boxes, scores, limits),
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
        Check(boxes, scores, {most, 0.3f, -1e30f, center});
        Check(boxes, scores, {most, 0.7f, 0.25f, center});
      }
    }
  }
}

TEST(NonMaxSuppressionOpTest, EqualScoresAreTakenInOrder) {
  const Value boxes = Value::Floats(
      {1, 4, 4}, {0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5});
  // -0 equals 0, and NaN is no score.
  ExpectValues(CaseOf(boxes, Value::Floats({1, 1, 4}, {0.0f, NAN, -0.0f, 0.5f}),
                      Limits()),
               {Value::Ints({4, 3}, {0, 0, 3, 0, 0, 0, 0, 0, 2, 0, 0, 0}),
                Value::Ints({1}, {3})});
}

TEST(NonMaxSuppressionOpTest, BoxesWithoutAreaOverlapNone) {
  const Value boxes =
      Value::Floats({1, 3, 4}, {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 1});
  ExpectValues(
      CaseOf(boxes, Value::Floats({1, 1, 3}, {3, 2, 1}), {3, 0, 0, false}),
      {Value::Ints({3, 3}, {0, 0, 0, 0, 0, 1, 0, 0, 2}),
       Value::Ints({1}, {3})});
}

TEST(NonMaxSuppressionOpTest, AnOverlapOfTheThresholdIsAllowed) {
  const Value boxes = Value::Floats({1, 2, 4}, {0, 0, 1, 2, 0, 0, 1, 1});
  const Value scores = Value::Floats({1, 1, 2}, {2, 1});
  ExpectValues(
      CaseOf(boxes, scores, {2, 0.5f, 0, false}),
      {Value::Ints({2, 3}, {0, 0, 0, 0, 0, 1}), Value::Ints({1}, {2})});
  ExpectValues(
      CaseOf(boxes, scores, {2, 0.49f, 0, false}),
      {Value::Ints({2, 3}, {0, 0, 0, 0, 0, 0}), Value::Ints({1}, {1})});
}

TEST(NonMaxSuppressionOpTest, Errors) {
  const auto error = [](const Shape &boxes, const Shape &scores) {
    Random random(2);
    ExpectError(CaseOf(random.Floats(boxes), random.Floats(scores), Limits()),
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
