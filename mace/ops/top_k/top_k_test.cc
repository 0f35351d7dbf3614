// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "mace/ops/testing/indexing.h"
#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectValues;
using op_test::Flat;
using op_test::ForEachIndex;
using op_test::Index;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

OpCase CaseOf(const Value &x, int64_t k, int64_t axis, bool largest) {
  return OpCase("TopK", 2)
      .Input(x)
      .Int("k", k)
      .Int("axis", axis)
      .Int("largest", largest ? 1 : 0);
}

// Sorts every line along the axis.
template <typename T>
void Expect(const OpCase &op_case,
            const Shape &shape,
            const std::vector<T> &x,
            int64_t k,
            size_t axis,
            bool largest) {
  Shape picked = shape;
  picked[axis] = k;
  std::vector<T> values(static_cast<size_t>(picked.Elements()));
  std::vector<int32_t> indices(values.size());
  Shape lines = picked;
  lines[axis] = k > 0 ? 1 : 0;
  ForEachIndex(lines, [&](Index index) {
    std::vector<std::pair<T, int32_t>> line;
    for (int64_t i = 0; i < shape[axis]; ++i) {
      index[axis] = i;
      line.emplace_back(x[static_cast<size_t>(Flat(shape, index))],
                        static_cast<int32_t>(i));
    }
    std::sort(line.begin(), line.end(), [=](const auto &a, const auto &b) {
      if (a.first == b.first) return a.second < b.second;
      return largest ? a.first > b.first : a.first < b.first;
    });
    for (int64_t i = 0; i < k; ++i) {
      index[axis] = i;
      // Flat ignores the position along an axis of length 1.
      const auto to = static_cast<size_t>(Flat(picked, index));
      values[to] = line[static_cast<size_t>(i)].first;
      indices[to] = line[static_cast<size_t>(i)].second;
    }
  });
  Value first;
  if constexpr (std::is_same_v<T, float>) {
    first = Value::Floats(picked, values);
  } else {
    first = Value::Ints(picked, values);
  }
  ExpectValues(op_case, {first, Value::Ints(picked, indices)});
}

TEST(TopKTest, EveryAxis) {
  Random random(7);
  for (const Shape &shape :
       {Shape{1}, Shape{300}, Shape{3, 700}, Shape{2, 130, 5},
        Shape{2, 1, 4, 33}, Shape{0, 3}}) {
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
      for (const int64_t wanted : {0, 1, 5, 100, 1000}) {
        const int64_t k = std::min(wanted, shape[axis]);
        for (const bool largest : {true, false}) {
          SCOPED_TRACE(testing::Message()
                       << shape.ToString() << " axis " << axis << " k " << k
                       << " " << largest);
          const Value x = random.Floats(shape);
          Expect(CaseOf(x, k, static_cast<int64_t>(axis), largest), shape,
                 x.floats(), k, axis, largest);
          // Many equal elements.
          const Value n = random.Ints(shape, -3, 3);
          Expect(CaseOf(n, k, static_cast<int64_t>(axis), largest), shape,
                 n.ints(), k, axis, largest);
        }
      }
    }
  }
}

// Each element is above all before it, or below.
TEST(TopKTest, SortedInputs) {
  std::vector<float> up;
  for (int i = 0; i < 1000; ++i) up.push_back(static_cast<float>(i - 500));
  for (const bool largest : {true, false}) {
    Expect(CaseOf(Value::Floats({1000}, up), 10, 0, largest), {1000}, up, 10, 0,
           largest);
  }
}

TEST(TopKTest, SpecialNumbers) {
  const float nan = std::nanf("");
  const Value x = Value::Floats({6}, {-0.0f, nan, -HUGE_VALF, 0, HUGE_VALF, 1});
  ExpectValues(CaseOf(x, 6, 0, true),
               {Value::Floats({6}, {nan, HUGE_VALF, 1, -0.0f, 0, -HUGE_VALF}),
                Value::Ints({6}, {1, 4, 5, 0, 3, 2})});
  ExpectValues(CaseOf(x, 6, 0, false),
               {Value::Floats({6}, {-HUGE_VALF, -0.0f, 0, 1, HUGE_VALF, nan}),
                Value::Ints({6}, {2, 0, 3, 5, 4, 1})});
  const Value n = Value::Ints({3}, {INT32_MIN, INT32_MAX, 0});
  ExpectValues(CaseOf(n, 3, 0, true),
               {Value::Ints({3}, {INT32_MAX, 0, INT32_MIN}),
                Value::Ints({3}, {1, 2, 0})});
}

// A number in place of the attribute.
TEST(TopKTest, Counts) {
  const Value x = Value::Floats({2, 3}, {3, 5, 4, 9, 7, 8});
  const auto of = [&x](int32_t count) {
    return OpCase("TopK", 2)
        .Input(x)
        .Known(Value::Ints({1}, {count}))
        .Int("k", 1);
  };
  ExpectValues(of(2), {Value::Floats({2, 2}, {5, 4, 9, 8}),
                       Value::Ints({2, 2}, {1, 2, 0, 2})});
  ExpectValues(of(3), {Value::Floats({2, 3}, {5, 4, 3, 9, 8, 7}),
                       Value::Ints({2, 3}, {1, 2, 0, 0, 2, 1})});
  ExpectValues(of(0), {Value::Floats({2, 0}, {}), Value::Ints({2, 0}, {})});
  ExpectError(of(4), MaceStatus::MACE_INVALID_ARGS, "k is 4, but axis 1");
  ExpectError(of(-1), MaceStatus::MACE_INVALID_ARGS, "count is -1");
  ExpectError(
      OpCase("TopK", 2).Input(x).Known(Value::Ints({2}, {1, 1})).Int("k", 1),
      MaceStatus::MACE_INVALID_ARGS, "count has the shape [2]");
}

TEST(TopKTest, Errors) {
  const Value x = Value::Floats({2}, {1, 2});
  ExpectError(OpCase("TopK", 2).Input(x), MaceStatus::MACE_INVALID_ARGS, "k");
  ExpectError(CaseOf(x, 3, 0, true), MaceStatus::MACE_INVALID_ARGS,
              "k is 3, but axis 0 of [2] has length 2");
  ExpectError(CaseOf(x, 1, 1, true), MaceStatus::MACE_INVALID_ARGS,
              "axis 1 is out of range");
}

}  // namespace
}  // namespace mace
