// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectFloats;
using op_test::ExpectValue;
using op_test::OpCase;
using op_test::Value;

OpCase Ints(int32_t start, int32_t limit, int32_t delta) {
  return OpCase("Range")
      .Known(Value::Ints({}, {start}))
      .Known(Value::Ints({}, {limit}))
      .Known(Value::Ints({}, {delta}));
}

OpCase Floats(float start, float limit, float delta) {
  return OpCase("Range")
      .Known(Value::Floats({}, {start}))
      .Known(Value::Floats({1}, {limit}))
      .Known(Value::Floats({}, {delta}));
}

TEST(RangeTest, Integers) {
  ExpectValue(Ints(0, 5, 1), Value::Ints({5}, {0, 1, 2, 3, 4}));
  ExpectValue(Ints(10, 4, -2), Value::Ints({3}, {10, 8, 6}));
  ExpectValue(Ints(10, 3, -2), Value::Ints({4}, {10, 8, 6, 4}));
  ExpectValue(Ints(1, 1, 1), Value::Ints({0}, {}));
  ExpectValue(Ints(1, 0, 1), Value::Ints({0}, {}));
  ExpectValue(Ints(INT32_MIN, INT32_MAX, INT32_MAX),
              Value::Ints({3}, {INT32_MIN, -1, INT32_MAX - 1}));
}

TEST(RangeTest, FloatsAreNotSummed) {
  std::vector<double> expected;
  // 0.1f is a little more than 1 / 10.
  for (int i = 0; i < 1000; ++i) expected.push_back(i * double{0.1f});
  ExpectFloats(Floats(0, 100, 0.1f), {1000}, expected, {0, 0x1p-24});
  ExpectFloats(Floats(1, -0.5, -0.5), {3}, {1, 0.5, 0}, {0, 0});
}

TEST(RangeTest, Errors) {
  const Value one = Value::Ints({}, {1});
  ExpectError(OpCase("Range").Known(one).Input(one).Known(one),
              MaceStatus::MACE_UNSUPPORTED, "is not known before the run");
  ExpectError(
      OpCase("Range").Known(one).Known(Value::Ints({2}, {1, 2})).Known(one),
      MaceStatus::MACE_INVALID_ARGS, "one has the shape [2]");
  ExpectError(Ints(0, 5, 0), MaceStatus::MACE_INVALID_ARGS, "delta is 0");
  ExpectError(Ints(INT32_MIN, INT32_MAX, 1), MaceStatus::MACE_INVALID_ARGS,
              "too many elements");
  ExpectError(Floats(0, NAN, 1), MaceStatus::MACE_INVALID_ARGS, "NaN");
}

}  // namespace
}  // namespace mace
