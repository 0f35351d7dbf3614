// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectValues;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

OpCase CaseOf(const Value &input, bool sorted) {
  return OpCase("Unique", 5).Input(input).Int("sorted", sorted ? 1 : 0);
}

// Collects the places of each row in a map, which is sorted.
void Check(const Value &input, bool sorted) {
  const int64_t count = input.shape[0];
  const int64_t size = input.shape.Elements(1, input.shape.rank());
  const std::vector<int32_t> all = input.ints();
  const auto row = [&](int64_t i) {
    return std::vector<int32_t>(all.begin() + i * size,
                                all.begin() + (i + 1) * size);
  };
  std::map<std::vector<int32_t>, std::vector<int32_t>> places;
  for (int64_t i = 0; i < count; ++i) {
    places[row(i)].push_back(static_cast<int32_t>(i));
  }
  std::map<std::vector<int32_t>, std::vector<int32_t>> groups;
  for (const auto &[key, rows] : places) {
    groups[sorted ? key : std::vector<int32_t>{rows[0]}] = rows;
  }
  std::vector<int32_t> values;
  std::vector<int32_t> indices;
  std::vector<int32_t> inverse(static_cast<size_t>(count));
  std::vector<int32_t> counts;
  for (const auto &[key, rows] : groups) {
    for (const int32_t i : rows) {
      inverse[static_cast<size_t>(i)] = static_cast<int32_t>(counts.size());
    }
    const std::vector<int32_t> first = row(rows[0]);
    values.insert(values.end(), first.begin(), first.end());
    indices.push_back(rows[0]);
    counts.push_back(static_cast<int32_t>(rows.size()));
  }
  const auto found = static_cast<int32_t>(counts.size());
  values.resize(all.size(), 0);
  indices.resize(static_cast<size_t>(count), 0);
  counts.resize(static_cast<size_t>(count), 0);
  ExpectValues(CaseOf(input, sorted),
               {Value::Ints(input.shape, values), Value::Ints({count}, indices),
                Value::Ints({count}, inverse), Value::Ints({count}, counts),
                Value::Ints({1}, {found})});
}

TEST(UniqueOpTest, FindsDifferentRows) {
  Random random(1);
  for (const Shape &shape :
       {Shape{9}, Shape{1}, Shape{0}, Shape{200}, Shape{20, 2}, Shape{30, 1, 3},
        Shape{4, 0}, Shape{0, 3}}) {
    for (const int32_t high : {-2, 0, 500}) {
      for (const bool sorted : {false, true}) {
        SCOPED_TRACE(testing::Message()
                     << shape.ToString() << " " << high << " " << sorted);
        Check(random.Ints(shape, -2, high), sorted);
      }
    }
  }
}

TEST(UniqueOpTest, ExtremeIntegersAreInOrder) {
  Check(Value::Ints({5}, {0, INT32_MAX, INT32_MIN, -1, INT32_MAX}), true);
}

TEST(UniqueOpTest, FloatsOfOneValueAreEqual) {
  const Value x = Value::Floats(
      {7}, {1.5f, NAN, -0.0f, 0.0f, -HUGE_VALF, -std::fabs(NAN), HUGE_VALF});
  ExpectValues(
      CaseOf(x, true),
      {Value::Floats({7}, {-HUGE_VALF, -0.0f, 1.5f, HUGE_VALF, NAN, 0, 0}),
       Value::Ints({7}, {4, 2, 0, 6, 1, 0, 0}),
       Value::Ints({7}, {2, 4, 1, 1, 0, 4, 3}),
       Value::Ints({7}, {1, 2, 1, 1, 2, 0, 0}), Value::Ints({1}, {5})});
  ExpectValues(
      CaseOf(x, false),
      {Value::Floats({7}, {1.5f, NAN, -0.0f, -HUGE_VALF, HUGE_VALF, 0, 0}),
       Value::Ints({7}, {0, 1, 2, 4, 6, 0, 0}),
       Value::Ints({7}, {0, 1, 2, 2, 3, 1, 4}),
       Value::Ints({7}, {1, 2, 2, 1, 1, 0, 0}), Value::Ints({1}, {5})});
}

TEST(UniqueOpTest, Errors) {
  ExpectError(OpCase("Unique", 5).Input(Value::Ints({}, {1})),
              MaceStatus::MACE_INVALID_ARGS, "the input has no dimensions");
}

}  // namespace
}  // namespace mace
