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

TEST(IdentityTest, Copies) {
  Random random(22);
  const Value floats = random.Floats({3, 5, 7});
  ExpectValue(OpCase("Identity").Input(floats), floats);
  const Value large = random.Floats({100000});
  ExpectValue(OpCase("Identity").Constant(large), large);
  const Value bools = Value::Bools({3}, {1, 0, 1});
  ExpectValue(OpCase("Identity").Input(bools), bools);
  const Value none = Value::Ints({0, 2}, {});
  ExpectValue(OpCase("Identity").Input(none), none);
}

}  // namespace
}  // namespace mace
