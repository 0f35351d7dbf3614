// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "mace/ops/testing/indexing.h"
#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectFloats;
using op_test::ExpectValue;
using op_test::OpCase;
using op_test::Value;

TEST(ShapeTest, GivesTheDimensions) {
  const Value x = Value::Floats({2, 3, 1}, std::vector<float>(6));
  ExpectValue(OpCase("Shape").Input(x), Value::Ints({3}, {2, 3, 1}));
  ExpectValue(OpCase("Shape").Input(Value::Bools({}, {1})),
              Value::Ints({0}, {}));
  ExpectValue(OpCase("Shape").Input(Value::Ints({0, 4}, {})),
              Value::Ints({2}, {0, 4}));
}

// The engine computes it before the run, without the input's data.
TEST(ShapeTest, NeedsNoData) {
  const OpRegistration *registration = OpRegistration::Find("Shape", CPU);
  ASSERT_NE(registration, nullptr);
  EXPECT_TRUE(registration->schema()->depends_on_shapes_only);
}

OpCase Case(const std::string &expression, bool whole) {
  return OpCase("SizeExpression")
      .Known(Value::Ints({}, {180}))
      .Known(Value::Floats({1}, {-2.5}))
      .String("expression", expression)
      .Int("whole", whole ? 1 : 0);
}

void ExpectWhole(const std::string &expression, int32_t expected) {
  SCOPED_TRACE(expression);
  ExpectValue(Case(expression, true), Value::Ints({}, {expected}));
}

TEST(SizeExpressionTest, DoublePrecision) {
  // 0.35, with which floats give 63.
  ExpectWhole("$0 6305039478318694p-54 mul trunc", 62);
  ExpectFloats(Case("$0 -1p-1 pow", false), {}, {0.07453559924999299},
               {0, 1e-7});
}

TEST(SizeExpressionTest, Functions) {
  ExpectWhole("$0 7 floordiv", 25);
  ExpectWhole("$0 neg 7 floordiv", -26);
  ExpectWhole("$0 neg 7 mod", 2);
  ExpectWhole("$0 -7 mod", -2);
  ExpectWhole("$1 round", -2);
  ExpectWhole("$1 floor", -3);
  ExpectWhole("$1 ceil", -2);
  ExpectWhole("$1 trunc", -2);
  ExpectWhole("$0 sqrt floor", 13);
  ExpectWhole("$0 100 gt 3 4 ite", 3);
  ExpectWhole("$0 100 lt $1 0 ne or not", 0);
  ExpectWhole("$0 $1 max $0 200 min sub", 0);
}

TEST(SizeExpressionTest, Errors) {
  const auto refused = [](const std::string &expression,
                          const std::string &reason) {
    ExpectError(Case(expression, true), MaceStatus::MACE_INVALID_ARGS, reason);
  };
  refused("$0 8 truediv", "the result is 22.5, no integer");
  refused("$0 0 mod", "no integer of 32 bits");
  refused("$0 $0 mul $0 mul $0 mul $0 mul", "no integer of 32 bits");
  refused("$2", "expression has the word '$2'");
  refused("$-1", "expression has the word '$-1'");
  refused("$0 add", "expression has the word 'add'");
  refused("", "expression has the word ''");
  refused("1p99999", "expression has the word '1p99999'");
  refused("$0 $0", "expression leaves 2 numbers");
  std::string many = "$0";
  for (int i = 0; i < 32; ++i) many += " $0";
  refused(many, "expression has the word '$0'");
}

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
