// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectValue;
using op_test::LeastByte;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

// Compares quantized products with the definition of their arithmetic, to the
// bit.

constexpr float kInputScale = 0.05f;
constexpr float kWeightScale = 0.004f;
constexpr float kOutputScale = 0.07f;

void Check(DataType type, int64_t rows, int64_t depth, int64_t outputs) {
  const int32_t least = LeastByte(type);
  const int32_t most = least + 255;
  const int32_t input_zero = least + 124;
  const int32_t output_zero = least + 137;
  Random random(5);
  const std::vector<int32_t> x = random.Ints({rows, depth}, least, most).ints();
  const std::vector<int32_t> w =
      random.Ints({outputs, depth}, -128, 127).ints();
  const std::vector<int32_t> bias = random.Ints({outputs}, -2000, 2000).ints();
  std::vector<int32_t> wanted;
  const float scale = kInputScale * kWeightScale / kOutputScale;
  for (int64_t m = 0; m < rows; ++m) {
    for (int64_t n = 0; n < outputs; ++n) {
      int32_t sum = bias[static_cast<size_t>(n)];
      for (int64_t k = 0; k < depth; ++k) {
        sum += (x[static_cast<size_t>(m * depth + k)] - input_zero) *
               w[static_cast<size_t>(n * depth + k)];
      }
      const int64_t q =
          std::llrint(static_cast<float>(sum) * scale) + output_zero;
      wanted.push_back(
          static_cast<int32_t>(std::clamp<int64_t>(q, least, most)));
    }
  }
  const Value weights = Value::Bytes(DataType::kInt8, {outputs, depth}, w);
  for (const bool packed : {false, true}) {
    if (packed && depth % 4 != 0) continue;
    OpCase op("FullyConnected");
    op.Input(Value::Bytes(type, {rows, depth}, x))
        .Quantized({{kInputScale}, {input_zero}, 0});
    if (packed) {
      op.PackedFours(weights);
    } else {
      op.Constant(weights);
    }
    op.Quantized({{kWeightScale}, {}, 0})
        .Constant(Value::Ints({outputs}, bias))
        .Quantized({{kInputScale * kWeightScale}, {}, 0})
        .QuantizedOutput(type, kOutputScale, output_zero)
        .OnCpuOnly();
    ExpectValue(op, Value::Bytes(type, {rows, outputs}, wanted));
  }
}

TEST(QuantizedFullyConnectedTest, RowsAndOddSizes) {
  for (DataType type : {DataType::kInt8, DataType::kUint8}) {
    Check(type, 1, 64, 40);
    Check(type, 1, 1001, 10);
    Check(type, 7, 30, 17);
    Check(type, 3, 2, 1);
    Check(type, 5, 12, 33);
  }
}

// Compares products of int16 with the definition of their arithmetic, to the
// bit, on every instruction set.

constexpr float kInt16InputScale = 0.0005f;
constexpr float kInt16WeightScale = 0.004f;
constexpr float kInt16OutputScale = 0.01f;
constexpr int32_t kInputZero = -41;
constexpr int32_t kOutputZero = 900;

void CheckInt16(int64_t rows, int64_t depth, int64_t outputs) {
  Random random(5);
  const std::vector<int32_t> x =
      random.Ints({rows, depth}, INT16_MIN, INT16_MAX).ints();
  const std::vector<int32_t> w =
      random.Ints({outputs, depth}, -128, 127).ints();
  const std::vector<int32_t> bias =
      random.Ints({outputs}, -200000, 200000).ints();
  std::vector<int32_t> wanted;
  const double scale = double{kInt16InputScale} * double{kInt16WeightScale} /
                       double{kInt16OutputScale};
  for (int64_t m = 0; m < rows; ++m) {
    for (int64_t n = 0; n < outputs; ++n) {
      int64_t sum = bias[static_cast<size_t>(n)];
      for (int64_t k = 0; k < depth; ++k) {
        sum += int64_t{x[static_cast<size_t>(m * depth + k)] - kInputZero} *
               w[static_cast<size_t>(n * depth + k)];
      }
      const int64_t q =
          std::llrint(static_cast<double>(sum) * scale) + kOutputZero;
      wanted.push_back(
          static_cast<int32_t>(std::clamp<int64_t>(q, INT16_MIN, INT16_MAX)));
    }
  }
  OpCase op("FullyConnected");
  op.Input(Value::Shorts({rows, depth}, x))
      .Quantized({{kInt16InputScale}, {kInputZero}, 0})
      .Constant(Value::Bytes(DataType::kInt8, {outputs, depth}, w))
      .Quantized({{kInt16WeightScale}, {}, 0})
      .Constant(Value::Ints({outputs}, bias))
      .Quantized({{kInt16InputScale * kInt16WeightScale}, {}, 0})
      .QuantizedOutput(DataType::kInt16, kInt16OutputScale, kOutputZero)
      .OnCpuOnly();
  ExpectValue(op, Value::Shorts({rows, outputs}, wanted));
}

TEST(Int16FullyConnectedTest, RowsAndOddSizes) {
  CheckInt16(1, 64, 40);
  CheckInt16(1, 1001, 10);
  CheckInt16(7, 30, 17);
  CheckInt16(3, 2, 1);
  CheckInt16(29, 2050, 33);
}

}  // namespace
}  // namespace mace
