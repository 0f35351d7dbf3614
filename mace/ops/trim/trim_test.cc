// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectValue;
using op_test::OpCase;
using op_test::Value;

const Value kMatrix = Value::Ints({2, 3}, {1, 2, 3, 4, 5, 6});

TEST(TrimOpTest, TheRunDeterminesTheShape) {
  for (int32_t count = 0; count <= 3; ++count) {
    std::vector<int32_t> rows;
    for (int32_t row = 0; row < 2; ++row) {
      for (int32_t i = 1; i <= count; ++i) rows.push_back(3 * row + i);
    }
    for (const int64_t axis : {1, -1}) {
      ExpectValue(OpCase("Trim")
                      .Input(kMatrix)
                      .Input(Value::Ints({1}, {count}))
                      .Int("axis", axis),
                  Value::Ints({2, count}, rows));
    }
  }
  ExpectValue(OpCase("Trim")
                  .Input(Value::Floats({3, 1, 2}, {1, 2, 3, 4, 5, 6}))
                  .Input(Value::Ints({}, {2}))
                  .Int("axis", 0),
              Value::Floats({2, 1, 2}, {1, 2, 3, 4}));
}

TEST(TrimOpTest, CountsAreLimited) {
  const auto trimmed = [](int32_t count) {
    return OpCase("Trim")
        .Input(kMatrix)
        .Input(Value::Ints({1}, {count}))
        .Int("axis", 0);
  };
  ExpectValue(trimmed(INT32_MAX), kMatrix);
  ExpectValue(trimmed(INT32_MIN), Value::Ints({0, 3}, {}));
}

TEST(TrimOpTest, KnownCountsMakeKnownShapes) {
  ExpectValue(OpCase("Trim")
                  .Input(kMatrix)
                  .Constant(Value::Ints({1}, {1}))
                  .Int("axis", 0),
              Value::Ints({1, 3}, {1, 2, 3}));
}

TEST(TrimOpTest, Errors) {
  ExpectError(
      OpCase("Trim").Input(kMatrix).Input(Value::Ints({1}, {1})).Int("axis", 2),
      MaceStatus::MACE_INVALID_ARGS,
      "axis 2 is out of range for an input of shape [2, 3]");
  ExpectError(OpCase("Trim")
                  .Input(kMatrix)
                  .Input(Value::Ints({2}, {1, 1}))
                  .Int("axis", 0),
              MaceStatus::MACE_INVALID_ARGS,
              "count has the shape [2]; it takes one element");
}

}  // namespace
}  // namespace mace
