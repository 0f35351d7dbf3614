// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Compares quantized products with the definition of their arithmetic, to the
// bit.

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

constexpr float kInputScale = 0.05f;
constexpr float kWeightScale = 0.004f;
constexpr float kOutputScale = 0.07f;
constexpr int32_t kInputZero = -4;
constexpr int32_t kOutputZero = 9;

void Check(int64_t rows, int64_t depth, int64_t outputs) {
  Random random(5);
  const std::vector<int32_t> x = random.Ints({rows, depth}, -128, 127).ints();
  const std::vector<int32_t> w =
      random.Ints({outputs, depth}, -128, 127).ints();
  const std::vector<int32_t> bias = random.Ints({outputs}, -2000, 2000).ints();
  std::vector<int32_t> wanted;
  const float scale = kInputScale * kWeightScale / kOutputScale;
  for (int64_t m = 0; m < rows; ++m) {
    for (int64_t n = 0; n < outputs; ++n) {
      int32_t sum = bias[static_cast<size_t>(n)];
      for (int64_t k = 0; k < depth; ++k) {
        sum += (x[static_cast<size_t>(m * depth + k)] - kInputZero) *
               w[static_cast<size_t>(n * depth + k)];
      }
      const int64_t q =
          std::llrint(static_cast<float>(sum) * scale) + kOutputZero;
      wanted.push_back(static_cast<int32_t>(std::clamp<int64_t>(q, -128, 127)));
    }
  }
  const Value weights = Value::Bytes(DataType::kInt8, {outputs, depth}, w);
  for (const bool packed : {false, true}) {
    if (packed && depth % 4 != 0) continue;
    OpCase op("FullyConnected");
    op.Input(Value::Bytes(DataType::kInt8, {rows, depth}, x))
        .Quantized({{kInputScale}, {kInputZero}, 0});
    if (packed) {
      op.PackedFours(weights);
    } else {
      op.Constant(weights);
    }
    op.Quantized({{kWeightScale}, {}, 0})
        .Constant(Value::Ints({outputs}, bias))
        .Quantized({{kInputScale * kWeightScale}, {}, 0})
        .QuantizedOutput(DataType::kInt8, kOutputScale, kOutputZero)
        .OnCpuOnly();
    ExpectValue(op, Value::Bytes(DataType::kInt8, {rows, outputs}, wanted));
  }
}

TEST(QuantizedFullyConnectedTest, RowsAndOddSizes) {
  Check(1, 64, 40);
  Check(1, 1001, 10);
  Check(7, 30, 17);
  Check(3, 2, 1);
  Check(5, 12, 33);
}

}  // namespace
}  // namespace mace
