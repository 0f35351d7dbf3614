// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectValue;
using op_test::OpCase;
using op_test::Value;

OpCase Make(const Value &indices, int64_t depth, int64_t axis, bool wrap) {
  return OpCase("OneHot")
      .Input(indices)
      .Constant(Value::Floats({2}, {-1, 5}))
      .Int("depth", depth)
      .Int("axis", axis)
      .Int("wrap", wrap ? 1 : 0);
}

TEST(OneHotTest, NewAxisLast) {
  const Value indices = Value::Ints({3}, {2, 0, 1});
  const Value wanted = Value::Floats({3, 3}, {-1, -1, 5, 5, -1, -1, -1, 5, -1});
  ExpectValue(Make(indices, 3, -1, false), wanted);
  ExpectValue(Make(indices, 3, 1, false), wanted);
}

TEST(OneHotTest, NewAxisBetween) {
  const Value indices = Value::Ints({2, 2}, {1, 0, 1, 1});
  ExpectValue(Make(indices, 2, 1, false),
              Value::Floats({2, 2, 2}, {-1, 5, 5, -1, -1, -1, 5, 5}));
  ExpectValue(Make(indices, 2, 0, false),
              Value::Floats({2, 2, 2}, {-1, 5, -1, -1, 5, -1, 5, 5}));
}

TEST(OneHotTest, IndicesOutside) {
  const Value indices = Value::Ints({4}, {-1, 2, -2, -3});
  ExpectValue(Make(indices, 2, -1, false),
              Value::Floats({4, 2}, std::vector<float>(8, -1)));
  ExpectValue(Make(indices, 2, -1, true),
              Value::Floats({4, 2}, {-1, 5, -1, -1, 5, -1, -1, -1}));
}

TEST(OneHotTest, IntegersScalarsAndNothing) {
  OpCase ints("OneHot");
  ints.Input(Value::Ints({}, {1})).Input(Value::Ints({2}, {7, 8}));
  ExpectValue(ints.Int("depth", 3), Value::Ints({3}, {7, 8, 7}));
  ExpectValue(Make(Value::Ints({2}, {0, 1}), 0, -1, false),
              Value::Floats({2, 0}, {}));
  ExpectValue(Make(Value::Ints({0}, {}), 3, 0, false),
              Value::Floats({3, 0}, {}));
}

TEST(OneHotTest, Errors) {
  const Value indices = Value::Ints({2}, {0, 1});
  const auto kInvalid = MaceStatus::MACE_INVALID_ARGS;
  ExpectError(Make(indices, 3, 2, false), kInvalid,
              "axis 2 is not within [-2, 1]");
  OpCase three("OneHot");
  three.Input(indices).Input(Value::Floats({3}, {0, 1, 2}));
  ExpectError(three.Int("depth", 3), kInvalid, "expected [2]");
  const Shape most{1, 1, 1, 1, 1, 1, 1, 1};
  ExpectError(Make(Value::Ints(most, {0}), 3, 0, false), kInvalid,
              "9 dimensions");
}

}  // namespace
}  // namespace mace
