// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

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
using op_test::ExpectValue;
using op_test::ExpectValues;
using op_test::Flat;
using op_test::ForEachIndex;
using op_test::Index;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

TEST(GatherTest, PicksAlongEveryAxis) {
  Random random(19);
  for (const Shape &shape : {Shape{5}, Shape{4, 7}, Shape{3, 5, 2, 6}}) {
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
      for (const Shape &pick : {Shape{}, Shape{3}, Shape{2, 4}, Shape{0}}) {
        const Value params = random.Floats(shape);
        const std::vector<float> v = params.floats();
        const auto n = static_cast<int32_t>(shape[axis]);
        const Value indices = random.Ints(pick, -n, n - 1);
        const std::vector<int32_t> at = indices.ints();
        Shape output(shape.begin(), axis);
        for (const int64_t dim : pick) output.Append(dim);
        for (size_t i = axis + 1; i < shape.rank(); ++i) {
          output.Append(shape[i]);
        }
        std::vector<float> expected;
        ForEachIndex(output, [&](const Index &index) {
          const auto begin = index.begin() + static_cast<int64_t>(axis);
          const auto end = begin + static_cast<int64_t>(pick.rank());
          const int32_t row = at[Flat(pick, Index(begin, end))];
          Index from(index.begin(), begin);
          from.push_back(row < 0 ? row + n : row);
          from.insert(from.end(), end, index.end());
          expected.push_back(v[Flat(shape, from)]);
        });
        ExpectValue(OpCase("Gather").Input(params).Input(indices).Int(
                        "axis", static_cast<int64_t>(axis)),
                    Value::Floats(output, expected));
      }
    }
  }
}

TEST(GatherTest, ElementOfAShape) {
  ExpectValue(OpCase("Gather")
                  .Known(Value::Ints({4}, {1, 224, 225, 3}))
                  .Constant(Value::Ints({}, {-2})),
              Value::Ints({}, {225}));
}

TEST(GatherTest, IndexOutOfRangeIsAnErrorOfTheRun) {
  for (const int32_t index : {3, -4, INT32_MIN, INT32_MAX}) {
    ExpectError(OpCase("Gather")
                    .Input(Value::Floats({3}, {1, 2, 3}))
                    .Input(Value::Ints({2}, {0, index})),
                MaceStatus::MACE_INVALID_ARGS,
                "index " + std::to_string(index));
  }
}

TEST(GatherTest, Errors) {
  const Value x = Value::Floats({3}, {1, 2, 3});
  ExpectError(
      OpCase("Gather").Input(x).Input(Value::Ints({1}, {0})).Int("axis", 1),
      MaceStatus::MACE_INVALID_ARGS, "axis 1");
}

}  // namespace
}  // namespace mace
