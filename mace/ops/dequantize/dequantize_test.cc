// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectValue;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

template <typename T>
Value Numbers(Random *random, DataType type, const Shape &shape) {
  std::vector<T> v;
  for (int64_t i = 0; i < shape.Elements(); ++i) {
    v.push_back(static_cast<T>(random->Int(INT32_MIN, INT32_MAX)));
  }
  return Value::Of(type, shape, v);
}

// Every axis of tensors with rows and vectors of every length. Integers below
// 2^24 and one rounded product: the bits are the same everywhere.
template <typename T>
void CheckType(DataType type) {
  Random random(1);
  for (const Shape &shape : {Shape{67}, Shape{3, 5}, Shape{3, 0},
                             Shape{2, 3, 37}, Shape{2, 19, 3, 5}}) {
    const Value x = Numbers<T>(&random, type, shape);
    const std::vector<T> values = x.As<T>();
    const auto rank = static_cast<int64_t>(shape.rank());
    for (int64_t axis = -rank; axis < rank; ++axis) {
      const auto at = static_cast<size_t>((axis + rank) % rank);
      const int64_t inner = shape.Elements(at + 1, shape.rank());
      for (int64_t length : {int64_t{1}, shape[at]}) {
        const Value scale = random.Floats({length}, 0.01f, 0.5f);
        const Value zero = Numbers<T>(&random, type, {length});
        std::vector<float> want;
        std::vector<float> without;
        for (size_t i = 0; i < values.size(); ++i) {
          const auto c =
              static_cast<size_t>(static_cast<int64_t>(i) / inner % length);
          const auto steps =
              static_cast<int32_t>(static_cast<uint32_t>(values[i]) -
                                   static_cast<uint32_t>(zero.As<T>()[c]));
          const float s = scale.floats()[c];
          want.push_back(static_cast<float>(steps) * s);
          without.push_back(static_cast<float>(values[i]) * s);
        }
        ExpectValue(OpCase("Dequantize")
                        .Input(x)
                        .Input(scale)
                        .Input(zero)
                        .Int("axis", axis),
                    Value::Floats(shape, want));
        ExpectValue(
            OpCase("Dequantize").Input(x).Constant(scale).Int("axis", axis),
            Value::Floats(shape, without));
      }
    }
  }
}

TEST(DequantizeTest, Uint8) { CheckType<uint8_t>(DataType::kUint8); }
TEST(DequantizeTest, Int8) { CheckType<int8_t>(DataType::kInt8); }
TEST(DequantizeTest, Int16) { CheckType<int16_t>(DataType::kInt16); }
TEST(DequantizeTest, Int32) { CheckType<int32_t>(DataType::kInt32); }

TEST(DequantizeTest, LargeOnes) {
  Random random(2);
  const Value x = Numbers<uint8_t>(&random, DataType::kUint8, {100003});
  std::vector<float> want;
  for (uint8_t v : x.As<uint8_t>()) {
    want.push_back(static_cast<float>(v - 128) * 0.3f);
  }
  ExpectValue(OpCase("Dequantize")
                  .Input(x)
                  .Input(Value::Floats({1}, {0.3f}))
                  .Input(Value::Of<uint8_t>(DataType::kUint8, {1}, {128})),
              Value::Floats({100003}, want));
}

TEST(DequantizeTest, Errors) {
  const auto invalid = MaceStatus::MACE_INVALID_ARGS;
  const auto with = [](const Value &scale) {
    return OpCase("Dequantize")
        .Input(Value::Of<uint8_t>(DataType::kUint8, {2, 3}, {1, 2, 3, 4, 5, 6}))
        .Input(scale);
  };
  ExpectError(with(Value::Floats({3}, {1, 1, 1})), invalid,
              "expected one number");
  ExpectError(with(Value::Floats({2}, {1, 1})).Int("axis", -3), invalid,
              "axis -3 is out of range");
  ExpectError(with(Value::Floats({1}, {1}))
                  .Input(Value::Of<int8_t>(DataType::kInt8, {1}, {1})),
              invalid, "the zero point is int8; expected uint8");
}

}  // namespace
}  // namespace mace
