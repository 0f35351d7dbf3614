// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectValue;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

const float kNan = std::nanf("");
const float kInf = INFINITY;

uint8_t Byte(float x, float scale, int zero, bool is_signed) {
  float steps = std::nearbyint(x / scale);
  if (std::isnan(steps)) steps = 0;
  steps += static_cast<float>(zero);
  const float low = is_signed ? -128.0f : 0.0f;
  steps = std::min(std::max(steps, low), low + 255.0f);
  return static_cast<uint8_t>(static_cast<int>(steps));
}

DataType TypeOf(bool is_signed) {
  return is_signed ? DataType::kInt8 : DataType::kUint8;
}

OpCase Quantize(const Value &x, const Value &scale, bool is_signed) {
  return OpCase("Quantize")
      .Input(x)
      .Input(scale)
      .String("to", is_signed ? "INT8" : "UINT8");
}

Value One(float scale) { return Value::Floats(Shape{}, {scale}); }

TEST(QuantizeTest, TiesToEvenAndSaturation) {
  const Value x = Value::Floats(
      {12}, {0, 1, 3, -1, -3, 511, 513, 1e30f, -1e30f, kInf, -kInf, kNan});
  ExpectValue(Quantize(x, One(2), false),
              Value::Of<uint8_t>(DataType::kUint8, {12},
                                 {0, 0, 2, 0, 0, 255, 255, 255, 0, 255, 0, 0}));
  ExpectValue(
      Quantize(x, One(2), true),
      Value::Of<int8_t>(DataType::kInt8, {12},
                        {0, 0, 2, 0, -2, 127, 127, 127, -128, 127, -128, 0}));
  // The zero point is added after rounding.
  OpCase with_zero("Quantize");
  with_zero.Input(x).Input(One(2)).Input(
      Value::Of<uint8_t>(DataType::kUint8, Shape{}, {7}));
  ExpectValue(with_zero.String("to", "UINT8"),
              Value::Of<uint8_t>(DataType::kUint8, {12},
                                 {7, 7, 9, 7, 5, 255, 255, 255, 0, 255, 0, 7}));
}

// Rows and vectors of every length, scales along every axis.
TEST(QuantizeTest, EveryAxis) {
  Random random(1);
  for (const Shape &shape : {Shape{67}, Shape{3, 5}, Shape{3, 0},
                             Shape{2, 3, 37}, Shape{2, 19, 3, 5}}) {
    const Value x = random.Floats(shape, -20.0f, 20.0f);
    const std::vector<float> values = x.floats();
    const auto rank = static_cast<int64_t>(shape.rank());
    for (int64_t axis = -rank; axis < rank; ++axis) {
      const auto at = static_cast<size_t>((axis + rank) % rank);
      const int64_t length = shape[at];
      const int64_t inner = shape.Elements(at + 1, shape.rank());
      for (bool is_signed : {false, true}) {
        const Value scale = random.Floats({length}, 0.01f, 0.5f);
        std::vector<uint8_t> zeros;
        for (int64_t i = 0; i < length; ++i) {
          zeros.push_back(static_cast<uint8_t>(random.Int(0, 255)));
        }
        std::vector<uint8_t> want;
        for (size_t i = 0; i < values.size(); ++i) {
          const auto c =
              static_cast<size_t>(static_cast<int64_t>(i) / inner % length);
          const int zero = is_signed ? static_cast<int8_t>(zeros[c]) : zeros[c];
          want.push_back(Byte(values[i], scale.floats()[c], zero, is_signed));
        }
        ExpectValue(OpCase("Quantize")
                        .Input(x)
                        .Input(scale)
                        .Input(Value::Of(TypeOf(is_signed), {length}, zeros))
                        .String("to", is_signed ? "INT8" : "UINT8")
                        .Int("axis", axis),
                    Value::Of(TypeOf(is_signed), shape, want));
      }
    }
  }
}

TEST(QuantizeTest, SixteenBits) {
  const Value x =
      Value::Floats({9}, {0, 1, 3, -3, 65534, 65537, -65536, -1e30f, kNan});
  ExpectValue(
      OpCase("Quantize").Input(x).Input(One(2)).String("to", "INT16"),
      Value::Shorts({9}, {0, 0, 2, -2, 32767, 32767, -32768, -32768, 0}));
  ExpectValue(OpCase("Quantize")
                  .Input(x)
                  .Input(One(2))
                  .Input(Value::Shorts(Shape{}, {-30000}))
                  .String("to", "INT16"),
              Value::Shorts({9}, {-30000, -30000, -29998, -30002, 2767, 2768,
                                  -32768, -32768, -30000}));
  // Every element of a vector, and scales of an axis.
  Random random(4);
  const Value many = random.Floats({3, 37}, -40.0f, 40.0f);
  const Value scale = random.Floats({37}, 0.0005f, 0.003f);
  std::vector<int32_t> zeros;
  for (int i = 0; i < 37; ++i) {
    zeros.push_back(static_cast<int32_t>(random.Int(-32768, 32767)));
  }
  std::vector<int32_t> want;
  for (size_t i = 0; i < many.floats().size(); ++i) {
    const float steps =
        std::nearbyint(many.floats()[i] / scale.floats()[i % 37]);
    want.push_back(static_cast<int32_t>(
        std::min(std::max(steps + static_cast<float>(zeros[i % 37]), -32768.0f),
                 32767.0f)));
  }
  ExpectValue(OpCase("Quantize")
                  .Input(many)
                  .Input(scale)
                  .Input(Value::Shorts({37}, zeros))
                  .String("to", "INT16")
                  .Int("axis", 1),
              Value::Shorts({3, 37}, want));
}

TEST(QuantizeTest, LargeOnesAndEmptyOnes) {
  Random random(2);
  const Value x = random.Floats({100003}, -3.0f, 3.0f);
  std::vector<uint8_t> want;
  for (float v : x.floats()) want.push_back(Byte(v, 0.013f, 0, true));
  ExpectValue(Quantize(x, One(0.013f), true),
              Value::Of(DataType::kInt8, {100003}, want));
  ExpectValue(Quantize(Value::Floats({0, 3}, {}), One(1), false),
              Value::Of<uint8_t>(DataType::kUint8, {0, 3}, {}));
  ExpectValue(Quantize(Value::Floats({3, 0}, {}), Value::Floats({0}, {}), false)
                  .Int("axis", 1),
              Value::Of<uint8_t>(DataType::kUint8, {3, 0}, {}));
}

TEST(QuantizeTest, Errors) {
  const auto invalid = MaceStatus::MACE_INVALID_ARGS;
  const Value x = Value::Floats({2, 3}, std::vector<float>(6));
  const auto scales = [](int64_t count) {
    return Value::Floats({count},
                         std::vector<float>(static_cast<size_t>(count), 1));
  };
  ExpectError(Quantize(x, scales(3), false), invalid, "expected one number");
  ExpectError(Quantize(x, scales(2), false).Int("axis", 2), invalid,
              "axis 2 is out of range");
  ExpectError(Quantize(x, Value::Floats({1, 1}, {1}), false), invalid,
              "[1, 1]");
  OpCase other_type("Quantize");
  other_type.Input(x).Input(One(1)).Input(
      Value::Of<int8_t>(DataType::kInt8, Shape{}, {1}));
  ExpectError(other_type.String("to", "UINT8"), invalid,
              "the zero point is int8; expected uint8");
  OpCase other_length("Quantize");
  other_length.Input(x).Input(One(1)).Input(
      Value::Of<uint8_t>(DataType::kUint8, {2}, {1, 2}));
  ExpectError(other_length.String("to", "UINT8"), invalid,
              "but the zero point [2]");
}

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

constexpr DataType kU8 = DataType::kUint8;
constexpr DataType kS8 = DataType::kInt8;

Value Bytes(DataType type, const Shape &shape, Random *random) {
  return Value::Bytes(type, shape, random->Ints(shape, 0, 255).ints());
}

void Check(const Value &x, const Value &table) {
  const auto channels = static_cast<size_t>(
      table.shape.rank() == 2 ? table.shape[0] : int64_t{1});
  std::vector<uint8_t> wanted;
  for (size_t i = 0; i < x.bytes.size(); ++i) {
    wanted.push_back(table.bytes[i % channels * 256 + x.bytes[i]]);
  }
  ExpectValue(OpCase("LookupTable").Input(x).Constant(table),
              Value::Of(table.data_type, x.shape, wanted));
}

// Every byte, in every place of a register and of what is left.
TEST(LookupTableTest, EveryByte) {
  Random random(1);
  for (int64_t shift = 0; shift < 7; ++shift) {
    std::vector<int32_t> all;
    for (int32_t i = 0; i < 700; ++i) {
      all.push_back(static_cast<int32_t>((i * 37 + shift) % 256));
    }
    Check(Value::Bytes(kU8, {700}, all), Bytes(kU8, {256}, &random));
  }
}

TEST(LookupTableTest, TypesAndShapes) {
  Random random(2);
  for (const Shape &shape :
       {Shape{}, Shape{1}, Shape{3, 0}, Shape{63}, Shape{5, 64}, Shape{257},
        Shape{2, 5, 7, 24}, Shape{1, 9, 8, 131}, Shape{100003}}) {
    for (const DataType from : {kU8, kS8}) {
      for (const DataType to : {kU8, kS8}) {
        Check(Bytes(from, shape, &random), Bytes(to, {256}, &random));
      }
    }
  }
}

TEST(LookupTableTest, ATableForEachChannel) {
  Random random(3);
  for (const Shape &shape : {Shape{1}, Shape{0, 3}, Shape{5, 64},
                             Shape{2, 5, 7, 24}, Shape{1, 90, 8, 131}}) {
    Check(Bytes(kU8, shape, &random), Bytes(kS8, {shape.back(), 256}, &random));
  }
}

TEST(LookupTableTest, Errors) {
  Random random(4);
  const auto invalid = MaceStatus::MACE_INVALID_ARGS;
  const auto with = [&random](const Shape &x, const Shape &table) {
    return OpCase("LookupTable")
        .Input(Bytes(kU8, x, &random))
        .Constant(Bytes(kU8, table, &random));
  };
  ExpectError(with({3}, {255}), invalid,
              "the table is [255]; expected [256] or [C, 256]");
  ExpectError(with({3}, {1, 3, 256}), invalid, "[1, 3, 256]");
  ExpectError(with({2, 3}, {2, 256}), invalid,
              "tables for 2 channels, but the input is [2, 3]");
  ExpectError(with({}, {2, 256}), invalid, "tables for 2 channels");
}

}  // namespace
}  // namespace mace
