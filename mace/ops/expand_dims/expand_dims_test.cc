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

TEST(ExpandDimsTest, InsertsAxesOfLengthOne) {
  const std::vector<float> v = {1, 2, 3, 4, 5, 6};
  const Value x = Value::Floats({2, 3}, v);
  const auto check = [&](const std::vector<int64_t> &axes, const Shape &shape) {
    ExpectValue(OpCase("ExpandDims").Input(x).Ints("axes", axes),
                Value::Floats(shape, v));
  };
  check({0}, {1, 2, 3});
  check({2}, {2, 3, 1});
  check({-1}, {2, 3, 1});
  check({0, 3}, {1, 2, 3, 1});
  check({1, -1}, {2, 1, 3, 1});
  check({}, {2, 3});
  ExpectValue(
      OpCase("ExpandDims").Known(Value::Ints({}, {9})).Ints("axes", {0}),
      Value::Ints({1}, {9}));
}

TEST(ExpandDimsTest, Errors) {
  const Value x = Value::Floats({2, 3}, std::vector<float>(6));
  const auto bad = [&](const std::vector<int64_t> &axes, const char *text) {
    ExpectError(OpCase("ExpandDims").Input(x).Ints("axes", axes),
                MaceStatus::MACE_INVALID_ARGS, text);
  };
  bad({3}, "out of range");
  bad({INT64_MIN}, "out of range");
  bad({0, -4}, "named twice");
  bad({0, 1, 2, 3, 4, 5, 6}, "9 dimensions");
}

}  // namespace
}  // namespace mace
