// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
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

const float kNan = std::nanf("");

TEST(CastTest, FloatsTruncateAndSaturate) {
  const Value x = Value::Floats(
      {9}, {0.9f, -0.9f, 2.5f, -2.5f, 300, -300, 3e9f, -INFINITY, kNan});
  const auto cast = [&](const char *to) {
    return OpCase("Cast").Input(x).String("to", to);
  };
  ExpectValue(cast("INT32"), Value::Ints({9}, {0, 0, 2, -2, 300, -300,
                                               INT32_MAX, INT32_MIN, 0}));
  ExpectValue(cast("UINT8"),
              Value::Of<uint8_t>(DataType::kUint8, {9},
                                 {0, 0, 2, 0, 255, 0, 255, 0, 0}));
  ExpectValue(cast("INT8"),
              Value::Of<int8_t>(DataType::kInt8, {9},
                                {0, 0, 2, -2, 127, -128, 127, -128, 0}));
  ExpectValue(cast("INT16"), Value::Of<int16_t>(DataType::kInt16, {9},
                                                {0, 0, 2, -2, 300, -300,
                                                 INT16_MAX, INT16_MIN, 0}));
  ExpectValue(cast("BOOL"), Value::Bools({9}, {1, 1, 1, 1, 1, 1, 1, 1, 1}));
  ExpectValue(cast("FLOAT32"), x);
}

TEST(CastTest, WideIntegersFitOrAreAnError) {
  const auto of = [](float x) {
    return OpCase("Cast")
        .Input(Value::Floats({3}, {0, x, 0}))
        .String("to", "INT32")
        .Int("wide", 1);
  };
  ExpectValue(of(-0x1p31f), Value::Ints({3}, {0, INT32_MIN, 0}));
  ExpectValue(of(0x1.fffffep30f), Value::Ints({3}, {0, 2147483520, 0}));
  // Frameworks do not say what becomes of these.
  ExpectValue(of(INFINITY), Value::Ints({3}, {0, INT32_MAX, 0}));
  ExpectValue(of(-0x1p70f), Value::Ints({3}, {0, INT32_MIN, 0}));
  for (const float x : {0x1p31f, -0x1.000002p31f, 0x1p62f, -0x1p63f}) {
    ExpectError(of(x), MaceStatus::MACE_INVALID_ARGS,
                "a result exceeds the 32 bits");
  }
}

TEST(CastTest, IntegersKeepTheirLowBits) {
  const Value x = Value::Ints({5}, {-1, 0, 127, 256, 300});
  const auto cast = [&](const char *to) {
    return OpCase("Cast").Known(x).String("to", to);
  };
  ExpectValue(cast("UINT8"),
              Value::Of<uint8_t>(DataType::kUint8, {5}, {255, 0, 127, 0, 44}));
  ExpectValue(cast("INT8"),
              Value::Of<int8_t>(DataType::kInt8, {5}, {-1, 0, 127, 0, 44}));
  ExpectValue(cast("BOOL"), Value::Bools({5}, {1, 0, 1, 1, 1}));
  ExpectValue(cast("FLOAT32"), Value::Floats({5}, {-1, 0, 127, 256, 300}));
}

TEST(CastTest, IntegersOfSixteenBits) {
  const Value x = Value::Of<int16_t>(DataType::kInt16, {5},
                                     {INT16_MIN, -1, 0, 300, INT16_MAX});
  const auto cast = [&](const char *to) {
    return OpCase("Cast").Input(x).String("to", to);
  };
  const Value ints = Value::Ints({5}, {INT16_MIN, -1, 0, 300, INT16_MAX});
  ExpectValue(cast("INT16"), x);
  ExpectValue(cast("INT32"), ints);
  ExpectValue(cast("FLOAT32"),
              Value::Floats({5}, {INT16_MIN, -1, 0, 300, INT16_MAX}));
  ExpectValue(cast("UINT8"),
              Value::Of<uint8_t>(DataType::kUint8, {5}, {0, 255, 0, 44, 255}));
  ExpectValue(cast("BOOL"), Value::Bools({5}, {1, 1, 0, 1, 1}));
  ExpectValue(OpCase("Cast").Input(ints).String("to", "INT16"), x);
  ExpectValue(OpCase("Cast")
                  .Known(Value::Ints({2}, {65537, 40000}))
                  .String("to", "INT16"),
              Value::Of<int16_t>(DataType::kInt16, {2}, {1, -25536}));
}

TEST(CastTest, BoolsAreZeroAndOne) {
  const Value x = Value::Bools({3}, {0, 1, 7});
  ExpectValue(OpCase("Cast").Input(x).String("to", "INT32"),
              Value::Ints({3}, {0, 1, 1}));
  ExpectValue(OpCase("Cast").Input(x).String("to", "FLOAT32"),
              Value::Floats({3}, {0, 1, 1}));
}

TEST(CastTest, LargeTensors) {
  std::vector<int32_t> ints(100003);
  std::vector<float> floats(ints.size());
  for (size_t i = 0; i < ints.size(); ++i) {
    ints[i] = static_cast<int32_t>(i) - 50000;
    floats[i] = static_cast<float>(ints[i]);
  }
  ExpectValue(
      OpCase("Cast").Input(Value::Ints({100003}, ints)).String("to", "FLOAT32"),
      Value::Floats({100003}, floats));
}

// Every number of elements after the last whole vector, for every type.
TEST(CastTest, FloatsToAndFromEveryTypeAtEveryLength) {
  for (int64_t count = 1; count < 70; ++count) {
    const auto length = static_cast<size_t>(count);
    std::vector<uint8_t> bytes(length);
    std::vector<int8_t> small(length);
    std::vector<int32_t> whole(length);
    std::vector<uint8_t> bools(length);
    std::vector<float> numbers[4];
    for (size_t i = 0; i < length; ++i) {
      bytes[i] = static_cast<uint8_t>(255 - i * 3);
      small[i] = static_cast<int8_t>(static_cast<int>(i) * 3 - 128);
      whole[i] = (static_cast<int32_t>(i) - 30) * 1000003;
      bools[i] = static_cast<uint8_t>(i % 3);
      numbers[0].push_back(bytes[i]);
      numbers[1].push_back(small[i]);
      numbers[2].push_back(static_cast<float>(whole[i]));
      numbers[3].push_back(bools[i] != 0 ? 1.0f : 0.0f);
    }
    const Value values[] = {Value::Of(DataType::kUint8, {count}, bytes),
                            Value::Of(DataType::kInt8, {count}, small),
                            Value::Ints({count}, whole),
                            Value::Bools({count}, bools)};
    for (size_t i = 0; i < std::size(values); ++i) {
      ExpectValue(OpCase("Cast").Input(values[i]).String("to", "FLOAT32"),
                  Value::Floats({count}, numbers[i]));
    }
    const auto back = [&](size_t i, const char *to) {
      return OpCase("Cast")
          .Input(Value::Floats({count}, numbers[i]))
          .String("to", to);
    };
    ExpectValue(back(0, "UINT8"), values[0]);
    ExpectValue(back(1, "INT8"), values[1]);
    std::vector<int32_t> rounded;
    for (const float x : numbers[2]) {
      rounded.push_back(static_cast<int32_t>(x));
    }
    ExpectValue(back(2, "INT32"), Value::Ints({count}, rounded));
  }
}

TEST(CastTest, Errors) {
  ExpectError(OpCase("Cast").Input(Value::Ints({1}, {1})),
              MaceStatus::MACE_INVALID_ARGS, "to");
  ExpectError(
      OpCase("Cast").Input(Value::Ints({1}, {1})).String("to", "COMPLEX"),
      MaceStatus::MACE_INVALID_ARGS, "FLOAT32");
}

// Whole vectors, remainders, and numbers that 16 bits cannot represent.
void RoundsToNearestEven(DataType type) {
  const bool bf16 = type == DataType::kBfloat16;
  const char *name = bf16 ? "BFLOAT16" : "FLOAT16";
  Random random(31);
  for (int64_t count : {0, 1, 3, 4, 15, 16, 63, 64, 65, 130}) {
    Value x = random.Floats({count}, -70000.0f, 70000.0f);
    std::vector<float> values = x.floats();
    const float special[] = {INFINITY, -INFINITY, 1e-7f,   -6e-8f, 65519.9f,
                             65520.0f, 2049.0f,   2051.0f, -0.0f};
    for (size_t i = 0; i < std::min(values.size(), std::size(special)); ++i) {
      values[i] = special[i];
    }
    x = Value::Floats({count}, values);
    std::vector<uint16_t> bits;
    std::vector<float> back;
    for (float value : values) {
      bits.push_back(bf16 ? op_test::NarrowToBfloat16(value)
                          : op_test::NarrowToFloat16(value));
      back.push_back(bf16 ? op_test::WidenBfloat16(bits.back())
                          : op_test::WidenFloat16(bits.back()));
    }
    const Value half = Value::Of(type, {count}, bits);
    ExpectValue(OpCase("Cast").Input(x).String("to", name), half);
    ExpectValue(OpCase("Cast").Input(half).String("to", name), half);
    ExpectValue(OpCase("Cast").Input(half).String("to", "FLOAT32"),
                Value::Floats({count}, back));
  }
}

TEST(CastTest, Float16RoundsToNearestEven) {
  RoundsToNearestEven(DataType::kFloat16);
}

TEST(CastTest, Bfloat16RoundsToNearestEven) {
  RoundsToNearestEven(DataType::kBfloat16);
}

TEST(CastTest, HalfGoesByWayOfFloat) {
  const Value half = Value::Of<uint16_t>(DataType::kFloat16, {1}, {0x3c00});
  for (const char *to : {"INT32", "BFLOAT16"}) {
    ExpectError(OpCase("Cast").Input(half).String("to", to),
                MaceStatus::MACE_UNSUPPORTED, "convert to float32 first");
  }
}

}  // namespace
}  // namespace mace
