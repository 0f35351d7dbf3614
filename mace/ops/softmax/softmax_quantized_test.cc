// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Compares the quantized softmax with the definition in double precision: its
// results are the nearest integers, or one of two where the exact result is
// close to their middle.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectValue;
using op_test::LeastByte;
using op_test::OpCase;
using op_test::Random;
using op_test::RunOp;
using op_test::Value;

constexpr DataType kU8 = DataType::kUint8;
constexpr DataType kS8 = DataType::kInt8;
// Of a step: float32 keeps 24 bits of the at most 2^8 steps.
constexpr double kRounding = 1e-4;

OpCase Case(DataType from, const Value &x, float scale, DataType to) {
  OpCase op("Softmax");
  op.Input(x)
      .Quantized({{scale}, {LeastByte(from) + 100}, 0})
      .QuantizedOutput(to, 1.0f / 256, LeastByte(to))
      .OnCpuOnly();
  return op;
}

// `low` to `low` + `range` are the bytes of the input.
void Check(DataType from,
           DataType to,
           const Shape &shape,
           float scale,
           int32_t range = 255) {
  Random random(5, Random::Quiet());
  const std::vector<int32_t> x =
      random.Ints(shape, LeastByte(from) + 255 - range, LeastByte(from) + 255)
          .ints();
  const OpCase op = Case(from, Value::Bytes(from, shape, x), scale, to);
  const Value got = RunOp(op).outputs.at(0);
  ASSERT_EQ(got.data_type, to);
  const auto n = static_cast<size_t>(shape.back());
  for (size_t row = 0; row < x.size(); row += n) {
    const int32_t most =
        *std::max_element(x.begin() + row, x.begin() + row + n);
    double sum = 0;
    for (size_t i = row; i < row + n; ++i) {
      sum += std::exp(double{scale} * (x[i] - most));
    }
    for (size_t i = row; i < row + n; ++i) {
      const double steps =
          std::min(255.0, 256 * std::exp(double{scale} * (x[i] - most)) / sum);
      const int32_t byte =
          to == kU8 ? got.As<uint8_t>()[i] : int32_t{got.As<int8_t>()[i]};
      EXPECT_NEAR(byte - LeastByte(to), steps, 0.5 + kRounding) << i;
    }
  }
  // Every instruction set, with other threads and in place: the same bits.
  ExpectValue(op, got);
}

TEST(QuantizedSoftmaxTest, TypesAndShapes) {
  for (const DataType from : {kU8, kS8}) {
    for (const DataType to : {kU8, kS8}) {
      for (const Shape &shape : {Shape{1}, Shape{3, 2}, Shape{2, 3, 17},
                                 Shape{70, 197}, Shape{1000}}) {
        Check(from, to, shape, 0.05f);
      }
    }
  }
}

TEST(QuantizedSoftmaxTest, ScalesFromTinyToHuge) {
  for (const float scale : {1e-38f, 1e-3f, 0.4f, 20.0f, 63.9f, 65.0f, 3e38f}) {
    Check(kU8, kU8, {5, 40}, scale);
  }
}

// Almost equal elements, of which there are so many that each result is small.
TEST(QuantizedSoftmaxTest, LongRows) { Check(kU8, kU8, {2, 40000}, 0.3f, 40); }

TEST(QuantizedSoftmaxTest, NoElements) {
  ExpectValue(Case(kU8, Value::Bytes(kU8, {0, 3}, {}), 0.1f, kU8),
              Value::Bytes(kU8, {0, 3}, {}));
}

TEST(QuantizedSoftmaxTest, Errors) {
  const Value x = Value::Bytes(kU8, {2, 3}, {1, 2, 3, 4, 5, 6});
  ExpectError(
      Case(kU8, x, 0.1f, kU8).Int("axis", 0), MaceStatus::MACE_UNSUPPORTED,
      "its axis is the innermost one, not 0 of an input of shape [2, 3]");
  ExpectError(Case(kU8, x, 0.1f, kU8).Int("log", 1),
              MaceStatus::MACE_UNSUPPORTED, "no logarithm");
}

}  // namespace
}  // namespace mace
