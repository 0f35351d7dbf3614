// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectFloats;
using op_test::ExpectValue;
using op_test::OpCase;
using op_test::Value;

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

}  // namespace
}  // namespace mace
