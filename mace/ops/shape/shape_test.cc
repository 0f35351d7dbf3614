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

}  // namespace
}  // namespace mace
