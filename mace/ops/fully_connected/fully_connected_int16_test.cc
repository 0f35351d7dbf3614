// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Compares products of int16 with the definition of their arithmetic, to the
// bit, on every instruction set.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectValue;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

constexpr float kInputScale = 0.0005f;
constexpr float kWeightScale = 0.004f;
constexpr float kOutputScale = 0.01f;
constexpr int32_t kInputZero = -41;
constexpr int32_t kOutputZero = 900;

void Check(int64_t rows, int64_t depth, int64_t outputs) {
  Random random(5);
  const std::vector<int32_t> x =
      random.Ints({rows, depth}, INT16_MIN, INT16_MAX).ints();
  const std::vector<int32_t> w =
      random.Ints({outputs, depth}, -128, 127).ints();
  const std::vector<int32_t> bias =
      random.Ints({outputs}, -200000, 200000).ints();
  std::vector<int32_t> wanted;
  const double scale =
      double{kInputScale} * double{kWeightScale} / double{kOutputScale};
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
      .Quantized({{kInputScale}, {kInputZero}, 0})
      .Constant(Value::Bytes(DataType::kInt8, {outputs, depth}, w))
      .Quantized({{kWeightScale}, {}, 0})
      .Constant(Value::Ints({outputs}, bias))
      .Quantized({{kInputScale * kWeightScale}, {}, 0})
      .QuantizedOutput(DataType::kInt16, kOutputScale, kOutputZero)
      .OnCpuOnly();
  ExpectValue(op, Value::Shorts({rows, outputs}, wanted));
}

TEST(Int16FullyConnectedTest, RowsAndOddSizes) {
  Check(1, 64, 40);
  Check(1, 1001, 10);
  Check(7, 30, 17);
  Check(3, 2, 1);
  Check(29, 2050, 33);
}

}  // namespace
}  // namespace mace
