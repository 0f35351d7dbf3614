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

// The parts of x of these lengths, one after the other.
std::vector<Value> PartsOf(const Value &x,
                           size_t axis,
                           const std::vector<int64_t> &sizes) {
  const std::vector<float> v = x.floats();
  std::vector<Value> parts;
  int64_t begin = 0;
  for (const int64_t size : sizes) {
    Shape part = x.shape;
    part[axis] = size;
    std::vector<float> values;
    ForEachIndex(part, [&](Index index) {
      index[axis] += begin;
      values.push_back(v[Flat(x.shape, index)]);
    });
    parts.push_back(Value::Floats(part, values));
    begin += size;
  }
  return parts;
}

TEST(SplitTest, CutsAlongEveryAxis) {
  Random random(17);
  for (const Shape &shape : {Shape{6}, Shape{6, 12}, Shape{6, 3, 18, 6}}) {
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
      for (const bool equal : {false, true}) {
        const int64_t third = shape[axis] / 3;
        const std::vector<int64_t> sizes =
            equal ? std::vector<int64_t>{third, third, third}
                  : std::vector<int64_t>{third, 0, shape[axis] - third};
        const Value x = random.Floats(shape);
        OpCase op_case("Split", 3);
        op_case.Input(x).Int("axis", static_cast<int64_t>(axis));
        if (!equal) op_case.Ints("sizes", sizes);
        ExpectValues(op_case, PartsOf(x, axis, sizes));
      }
    }
  }
}

// More than one launch of a GPU.
TEST(SplitTest, ManyOutputs) {
  Random random(18);
  const std::vector<int64_t> odd = {3, 1, 2, 1, 1, 4, 9, 1, 2};
  const std::vector<int64_t> whole = {4, 4, 8, 4, 4};
  for (const auto &sizes : {odd, whole}) {
    for (const size_t axis : {0, 1, 2}) {
      Shape shape = {2, 3, 5};
      shape[axis] = 24;
      const Value x = random.Floats(shape);
      SCOPED_TRACE(shape.ToString());
      ExpectValues(OpCase("Split", sizes.size())
                       .Input(x)
                       .Int("axis", static_cast<int64_t>(axis))
                       .Ints("sizes", sizes),
                   PartsOf(x, axis, sizes));
    }
  }
}

TEST(SplitTest, Errors) {
  const Value x = Value::Floats({2, 5}, std::vector<float>(10));
  const auto bad = [&x](std::vector<int64_t> sizes, int64_t axis,
                        const char *text) {
    OpCase op_case("Split", 2);
    op_case.Input(x).Int("axis", axis).Ints("sizes", sizes);
    ExpectError(op_case, MaceStatus::MACE_INVALID_ARGS, text);
  };
  bad({}, 1, "2 equal parts");
  bad({}, 2, "axis 2");
  bad({1, 1, 3}, 1, "3 sizes");
  bad({1, 3}, 1, "do not add up");
  bad({4, 2}, 1, "do not add up");
  bad({INT64_MAX, INT64_MAX}, 1, "do not add up");
}

}  // namespace
}  // namespace mace
