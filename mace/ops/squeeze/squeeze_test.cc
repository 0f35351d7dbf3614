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

TEST(SqueezeTest, DropsAxesOfLengthOne) {
  const std::vector<float> v = {1, 2, 3};
  const Value x = Value::Floats({1, 3, 1}, v);
  ExpectValue(OpCase("Squeeze").Input(x), Value::Floats({3}, v));
  ExpectValue(OpCase("Squeeze").Input(x).Ints("axes", {0}),
              Value::Floats({3, 1}, v));
  ExpectValue(OpCase("Squeeze").Input(x).Ints("axes", {-1, 0}),
              Value::Floats({3}, v));
  ExpectValue(OpCase("Squeeze").Known(Value::Ints({1}, {9})),
              Value::Ints({}, {9}));
}

TEST(SqueezeTest, Errors) {
  const Value x = Value::Floats({1, 3}, {1, 2, 3});
  for (const int64_t axis : {int64_t{1}, int64_t{2}, INT64_MIN}) {
    ExpectError(OpCase("Squeeze").Input(x).Ints("axes", {axis}),
                MaceStatus::MACE_INVALID_ARGS, "axis " + std::to_string(axis));
  }
}

}  // namespace
}  // namespace mace
