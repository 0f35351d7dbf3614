// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdint>
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

TEST(GatherElementsTest, PicksAlongEveryAxis) {
  Random random(19);
  for (const Shape &shape : {Shape{5}, Shape{4, 7}, Shape{3, 5, 2, 6}}) {
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
      // Shorter than params in the other axes, longer in this one; empty.
      for (const int64_t along : {1, 9, 0}) {
        Shape picked;
        for (size_t i = 0; i < shape.rank(); ++i) {
          picked.Append(i == axis ? along : (shape[i] + 1) / 2);
        }
        const Value params = random.Floats(shape);
        const std::vector<float> v = params.floats();
        const auto n = static_cast<int32_t>(shape[axis]);
        const Value indices = random.Ints(picked, -n, n - 1);
        const std::vector<int32_t> at = indices.ints();
        std::vector<float> expected;
        ForEachIndex(picked, [&](const Index &index) {
          Index from = index;
          const int32_t row = at[Flat(picked, index)];
          from[axis] = row < 0 ? row + n : row;
          expected.push_back(v[Flat(shape, from)]);
        });
        ExpectValue(OpCase("GatherElements")
                        .Input(params)
                        .Input(indices)
                        .Int("axis", static_cast<int64_t>(axis)),
                    Value::Floats(picked, expected));
      }
    }
  }
}

TEST(GatherElementsTest, OtherTypes) {
  const Value indices = Value::Ints({2, 2}, {2, 0, -1, 1});
  ExpectValue(OpCase("GatherElements")
                  .Input(Value::Ints({2, 3}, {10, 11, 12, 13, 14, INT32_MIN}))
                  .Input(indices)
                  .Int("axis", -1),
              Value::Ints({2, 2}, {12, 10, INT32_MIN, 14}));
  for (const DataType type : {DataType::kUint8, DataType::kInt8}) {
    const int32_t low = op_test::LeastByte(type);
    const Value params = Value::Bytes(
        type, {2, 3}, {low, low + 1, low + 2, low + 3, low + 4, low + 255});
    ExpectValue(
        OpCase("GatherElements").Input(params).Input(indices).Int("axis", -1),
        Value::Bytes(type, {2, 2}, {low + 2, low, low + 255, low + 4}));
  }
}

TEST(GatherElementsTest, IndexOutOfRangeIsAnErrorOfTheRun) {
  for (const int32_t index : {3, -4, INT32_MIN, INT32_MAX}) {
    ExpectError(OpCase("GatherElements")
                    .Input(Value::Floats({3}, {1, 2, 3}))
                    .Input(Value::Ints({2}, {0, index})),
                MaceStatus::MACE_INVALID_ARGS,
                "index " + std::to_string(index));
  }
}

TEST(GatherElementsTest, Errors) {
  const Value x = Value::Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  ExpectError(OpCase("GatherElements")
                  .Input(x)
                  .Input(Value::Ints({2, 3}, {0, 0, 0, 0, 0, 0}))
                  .Int("axis", 2),
              MaceStatus::MACE_INVALID_ARGS, "axis 2 is out of range");
  for (const Shape &shape : {Shape{3}, Shape{3, 1}, Shape{1, 1, 1}}) {
    ExpectError(
        OpCase("GatherElements")
            .Input(x)
            .Input(Value::Ints(
                shape,
                std::vector<int32_t>(static_cast<size_t>(shape.Elements()), 0)))
            .Int("axis", 1),
        MaceStatus::MACE_INVALID_ARGS, "do not fit params of shape [2, 3]");
  }
}

}  // namespace
}  // namespace mace
