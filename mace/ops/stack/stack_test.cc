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

TEST(StackTest, AddsAnAxisAnywhere) {
  Random random(18);
  for (const Shape &shape : {Shape{}, Shape{5}, Shape{2, 3}, Shape{4, 1, 7}}) {
    const auto rank = static_cast<int64_t>(shape.rank());
    for (int64_t axis = -rank - 1; axis <= rank; ++axis) {
      const size_t at = static_cast<size_t>(axis < 0 ? axis + rank + 1 : axis);
      std::vector<std::vector<int32_t>> values;
      OpCase op_case("Stack");
      for (int i = 0; i < 3; ++i) {
        const Value part = random.Ints(shape, -9, 9);
        values.push_back(part.ints());
        op_case.Input(part);
      }
      Shape output;
      for (size_t i = 0; i <= shape.rank(); ++i) {
        output.Append(i == at ? 3 : shape[i < at ? i : i - 1]);
      }
      std::vector<int32_t> expected;
      ForEachIndex(output, [&](Index index) {
        const int64_t part = index[at];
        index.erase(index.begin() + static_cast<int64_t>(at));
        expected.push_back(values[part][Flat(shape, index)]);
      });
      ExpectValue(op_case.Int("axis", axis), Value::Ints(output, expected));
    }
  }
}

TEST(StackTest, Errors) {
  const Value a = Value::Ints({2}, {1, 2});
  ExpectError(OpCase("Stack").Input(a).Int("axis", 2),
              MaceStatus::MACE_INVALID_ARGS, "axis 2");
  ExpectError(OpCase("Stack").Input(a).Input(Value::Ints({3}, {1, 2, 3})),
              MaceStatus::MACE_INVALID_ARGS, "int32[3]");
  ExpectError(OpCase("Stack").Input(Value::Ints({1, 1, 1, 1, 1, 1, 1, 1}, {1})),
              MaceStatus::MACE_INVALID_ARGS, "9 dimensions");
}

}  // namespace
}  // namespace mace
