// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "mace/ops/testing/indexing.h"
#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectValue;
using op_test::Flat;
using op_test::ForEachIndex;
using op_test::Index;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

OpCase MakeCase(const Value &x, int64_t axis, bool smallest, bool last) {
  return OpCase("ArgMax")
      .Input(x)
      .Int("axis", axis)
      .String("mode", smallest ? "MIN" : "MAX")
      .Int("last", last ? 1 : 0);
}

void Check(const Value &x, int64_t axis) {
  const std::vector<float> v = x.floats();
  const auto at = static_cast<size_t>(
      axis < 0 ? axis + static_cast<int64_t>(x.shape.rank()) : axis);
  Shape output = x.shape;
  output[at] = 1;
  for (const bool smallest : {false, true}) {
    for (const bool last : {false, true}) {
      std::vector<int32_t> expected;
      ForEachIndex(output, [&](Index index) {
        int64_t best = 0;
        float most = 0;
        for (int64_t i = 0; i < x.shape[at]; ++i) {
          index[at] = i;
          const float value = v[Flat(x.shape, index)];
          const bool better = smallest ? value < most : value > most;
          if (i == 0 || better || (last && value == most)) {
            best = i;
            most = value;
          }
        }
        expected.push_back(static_cast<int32_t>(best));
      });
      SCOPED_TRACE(x.shape.ToString() + " axis " + std::to_string(axis) +
                   (smallest ? " smallest" : " largest") +
                   (last ? " last" : " first"));
      ExpectValue(MakeCase(x, axis, smallest, last),
                  Value::Ints(output, expected));
    }
  }
}

// Integers from a small range, so that there are ties.
Value WithTies(Random *random, const Shape &shape) {
  std::vector<float> values;
  for (const int32_t x : random->Ints(shape, -3, 3).ints()) {
    values.push_back(static_cast<float>(x));
  }
  return Value::Floats(shape, values);
}

TEST(ArgMaxTest, EveryAxisAndLength) {
  Random random(61);
  for (const int64_t length : {1, 2, 7, 15, 16, 31, 32, 33, 40, 100, 1001}) {
    Check(WithTies(&random, {length}), 0);
    Check(WithTies(&random, {3, length}), -1);
    Check(random.Floats({2, length, 5}), 1);
    Check(WithTies(&random, {2, length, 17}), 1);
    Check(WithTies(&random, {length, 33}), -2);
  }
  Check(WithTies(&random, {2, 3, 300}), 1);
  Check(WithTies(&random, {2, 3, 4, 5}), 2);
}

TEST(ArgMaxTest, NanIsMoreExtremeThanAnyNumber) {
  const float nan = std::nanf("");
  for (const int64_t length : {4, 40}) {
    std::vector<float> values(static_cast<size_t>(length), 1.0f);
    values[0] = INFINITY;
    values[1] = -INFINITY;
    values[2] = values[3] = nan;
    for (const bool smallest : {false, true}) {
      for (const bool last : {false, true}) {
        const Value x = Value::Floats({length}, values);
        const int32_t found = last ? 3 : 2;
        ExpectValue(MakeCase(x, 0, smallest, last), Value::Ints({1}, {found}));
        Value column = x;
        column.shape = {length, 1};
        ExpectValue(MakeCase(column, 0, smallest, last),
                    Value::Ints({1, 1}, {found}));
      }
    }
  }
  ExpectValue(
      MakeCase(Value::Floats({2, 2}, {1, nan, nan, 1}), 0, false, false),
      Value::Ints({1, 2}, {1, 0}));
}

TEST(ArgMaxTest, NothingAndErrors) {
  ExpectValue(MakeCase(Value::Floats({0, 3}, {}), 1, false, false),
              Value::Ints({0, 1}, {}));
  const auto invalid = MaceStatus::MACE_INVALID_ARGS;
  ExpectError(MakeCase(Value::Floats({0, 3}, {}), 0, false, false), invalid,
              "has length 0");
  const Value x = Value::Floats({2, 3}, std::vector<float>(6));
  ExpectError(MakeCase(x, 2, false, false), invalid, "not within [-2, 2)");
  ExpectError(OpCase("ArgMax").Input(x), invalid, "axis");
}

}  // namespace
}  // namespace mace
