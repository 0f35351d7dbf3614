// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::CaseInput;
using op_test::ExpectError;
using op_test::ExpectFloats;
using op_test::OpCase;
using op_test::OpResult;
using op_test::OpSession;
using op_test::Random;
using op_test::RunOptions;
using op_test::Tolerance;
using op_test::Value;

// For sums of up to a few hundred products of at most 1.
constexpr Tolerance kTolerance = {2e-5, 2e-5};

std::vector<double> Multiply(const Value &input,
                             const Value &weights,
                             const std::vector<float> &bias) {
  const size_t depth = static_cast<size_t>(weights.shape[1]);
  const size_t columns = static_cast<size_t>(weights.shape[0]);
  const std::vector<float> x = input.floats();
  const std::vector<float> w = weights.floats();
  std::vector<double> out;
  for (size_t m = 0; m < x.size() / depth; ++m) {
    for (size_t n = 0; n < columns; ++n) {
      double sum = bias.empty() ? 0.0 : bias[n];
      for (size_t k = 0; k < depth; ++k) {
        sum += static_cast<double>(x[m * depth + k]) * w[n * depth + k];
      }
      out.push_back(sum);
    }
  }
  return out;
}

TEST(FullyConnectedTest, OneRow) {
  Random random(1);
  const Value x = random.Floats({1, 301});
  const Value w = random.Floats({75, 301});
  const Value b = random.Floats({75});
  ExpectFloats(OpCase("FullyConnected").Input(x).Packed(w).Constant(b), {1, 75},
               Multiply(x, w, b.floats()), kTolerance);
}

TEST(FullyConnectedTest, AnyRank) {
  Random random(2);
  const Value w = random.Floats({33, 20});
  for (const Shape &shape :
       {Shape{20}, Shape{7, 20}, Shape{3, 5, 20}, Shape{2, 2, 3, 20}}) {
    const Value x = random.Floats(shape);
    Shape output = shape;
    output[output.rank() - 1] = 33;
    ExpectFloats(OpCase("FullyConnected").Input(x).Packed(w), output,
                 Multiply(x, w, {}), kTolerance);
  }
}

TEST(FullyConnectedTest, ReluIsFused) {
  Random random(3);
  for (int64_t rows : {1, 9}) {
    const Value x = random.Floats({rows, 64});
    const Value w = random.Floats({40, 64});
    std::vector<double> want = Multiply(x, w, {});
    for (double &y : want) y = std::max(y, 0.0);
    ExpectFloats(OpCase("FullyConnected")
                     .Input(x)
                     .Packed(w)
                     .String("activation", "RELU"),
                 {rows, 40}, want, kTolerance);
  }
}

TEST(FullyConnectedTest, OtherActivationsFollowInASecondPass) {
  Random random(7);
  const Value w = random.Floats({90, 30});
  for (int64_t rows : {1, 9}) {
    const Value x = random.Floats({rows, 30});
    std::vector<double> want = Multiply(x, w, {});
    for (double &y : want) y = std::tanh(y);
    ExpectFloats(OpCase("FullyConnected")
                     .Input(x)
                     .Packed(w)
                     .String("activation", "TANH"),
                 {rows, 90}, want, kTolerance);
  }
}

TEST(FullyConnectedTest, ManyRows) {
  Random random(10);
  const Value x = random.Floats({601, 37});
  const Value w = random.Floats({261, 37});
  const Value b = random.Floats({261});
  ExpectFloats(OpCase("FullyConnected").Input(x).Packed(w).Constant(b),
               {601, 261}, Multiply(x, w, b.floats()), kTolerance);
}

TEST(FullyConnectedTest, Int8Weights) {
  Random random(8);
  Value w = random.Floats({50, 130}, -0.5f, 0.25f);
  for (int64_t rows : {1, 5}) {
    const Value x = random.Floats({rows, 130});
    const Value b = random.Floats({50});
    OpCase op_case("FullyConnected");
    op_case.Input(x).PackedScaled(w, 1, &w).Constant(b);
    ExpectFloats(op_case, {rows, 50}, Multiply(x, w, b.floats()), kTolerance);
  }
}

TEST(FullyConnectedTest, SixteenBitWeights) {
  Random random(4);
  const Value bits = random.Ints({50, 130}, -64, 64);
  std::vector<float> exact;  // in both types
  for (int32_t i : bits.ints()) exact.push_back(static_cast<float>(i) / 64.0f);
  const Value w = Value::Floats(bits.shape, exact);
  for (int64_t rows : {1, 5}) {
    const Value x = random.Floats({rows, 130});
    for (DataType type : {DataType::kFloat16, DataType::kBfloat16}) {
      ExpectFloats(OpCase("FullyConnected").Input(x).Packed(w, 1, type),
                   {rows, 50}, Multiply(x, w, {}), kTolerance);
    }
  }
}

// Only the sums are rounded: multiples of 1/64 are exact in bfloat16.
TEST(FullyConnectedTest, Bf16Arithmetic) {
  Random random(8);
  auto exact = [&random](const Shape &shape) {
    std::vector<float> values;
    for (int32_t i : random.Ints(shape, -64, 64).ints()) {
      values.push_back(static_cast<float>(i) / 64.0f);
    }
    return Value::Floats(shape, values);
  };
  for (int64_t depth : {1, 131, 132}) {
    const Value w = exact({50, depth});
    for (int64_t rows : {1, 5}) {
      const Value x = exact({rows, depth});
      ExpectFloats(OpCase("FullyConnected").Input(x).PackedPairs(w), {rows, 50},
                   Multiply(x, w, {}), kTolerance);
      // With activations of bf16.
      ExpectFloats(OpCase("FullyConnected")
                       .Input(x)
                       .PackedPairs(w)
                       .ComputeIn(Precision::kBfloat16),
                   {rows, 50}, Multiply(x, w, {}), {1e-6, 0x1p-8});
    }
  }
}

// All numbers are multiples of 1/64 or of 1/4, and exact in 16 bits.
TEST(FullyConnectedTest, AddsAResidualBeforeTheActivation) {
  Random random(9);
  auto exact = [&random](const Shape &shape, int32_t most, float unit) {
    std::vector<float> values;
    for (int32_t i : random.Ints(shape, -most, most).ints()) {
      values.push_back(static_cast<float>(i) * unit);
    }
    return Value::Floats(shape, values);
  };
  // 1100 is more than a K-block.
  for (int64_t depth : {33, 1100}) {
    for (int64_t rows : {1, 7}) {
      const Value x = exact({2, rows, depth}, 8, 1.0f / 64);
      const Value w = exact({50, depth}, 8, 1.0f / 64);
      const Value b = exact({50}, 16, 0.25f);
      const Value residual = exact({2, rows, 50}, 16, 0.25f);
      const std::vector<float> added = residual.floats();
      std::vector<double> expected = Multiply(x, w, b.floats());
      for (size_t i = 0; i < expected.size(); ++i) {
        expected[i] = std::max(expected[i] + added[i], 0.0);
      }
      const auto finished = [&](OpCase op_case) {
        return op_case.Constant(b).Input(residual).String("activation", "RELU");
      };
      const auto product = [&] { return OpCase("FullyConnected").Input(x); };
      ExpectFloats(finished(product().Packed(w)), residual.shape, expected,
                   kTolerance);
      ExpectFloats(
          finished(product().PackedPairs(w)).ComputeIn(Precision::kBfloat16),
          residual.shape, expected, {1e-5, 0x1p-8});
      ExpectFloats(finished(product().Packed(w, 1, DataType::kFloat16))
                       .ComputeIn(Precision::kFloat16),
                   residual.shape, expected, {0.02, 0x1p-8});
    }
  }
}

// Integers whose sums fp16 can represent: up to 4 * 301.
TEST(FullyConnectedTest, Fp16Arithmetic) {
  Random random(7);
  auto whole = [&random](const Shape &shape) {
    std::vector<float> values;
    for (int32_t i : random.Ints(shape, -2, 2).ints()) {
      values.push_back(static_cast<float>(i));
    }
    return Value::Floats(shape, values);
  };
  for (int64_t rows : {1, 5}) {
    const Value x = whole({rows, 301});
    const Value w = whole({75, 301});
    const Value b = whole({75});
    const OpCase op_case = OpCase("FullyConnected")
                               .Input(x)
                               .Packed(w, 1, DataType::kFloat16)
                               .Constant(b)
                               .ComputeIn(Precision::kFloat16);
    ExpectFloats(op_case, {rows, 75}, Multiply(x, w, b.floats()), kTolerance);
    for (const op_test::IsaResult &result : op_test::RunEverywhere(op_case)) {
      EXPECT_EQ(result.result.kernel_name.find("fp16") != std::string::npos,
                HasFp16(result.isa))
          << result.result.kernel_name;
    }
  }
}

TEST(FullyConnectedTest, ShapeMayChangeBetweenRuns) {
  Random random(5);
  const Value w = random.Floats({70, 24});
  OpCase op_case("FullyConnected");
  op_case.Input(random.Floats({1, 24})).Packed(w);
  RunOptions options;
  options.threads = 2;
  OpSession session(op_case, options);
  for (int64_t rows : {1, 30, 0, 2}) {
    const Value x = random.Floats({rows, 24});
    std::vector<CaseInput> inputs = op_case.inputs;
    inputs[0].value = x;
    const OpResult result = session.Run(inputs);
    ASSERT_TRUE(IsOk(result.status)) << result.status.information();
    EXPECT_EQ(result.violation, "");
    EXPECT_EQ(result.macs, rows * 70 * 24);
    op_test::ExpectNear(result.outputs[0].floats(), Multiply(x, w, {}),
                        kTolerance);
  }
}

TEST(FullyConnectedTest, NamesWhatDoesNotFit) {
  Random random(6);
  const Value w = random.Floats({8, 24});
  ExpectError(OpCase("FullyConnected").Input(random.Floats({2, 25})).Packed(w),
              MaceStatus::MACE_INVALID_ARGS, "[2, 25]");
  ExpectError(OpCase("FullyConnected")
                  .Input(random.Floats({2, 24}))
                  .Packed(w)
                  .Constant(random.Floats({24})),
              MaceStatus::MACE_INVALID_ARGS, "expected [8]");
  ExpectError(OpCase("FullyConnected")
                  .Input(random.Floats({2, 24}))
                  .Packed(random.Floats({8, 4, 6})),
              MaceStatus::MACE_INVALID_ARGS, "expected [O, K]");
  ExpectError(OpCase("FullyConnected")
                  .Input(random.Floats({2, 24}))
                  .Packed(w)
                  .Constant(random.Floats({8}))
                  .Input(random.Floats({1, 8})),
              MaceStatus::MACE_INVALID_ARGS, "[2, 8]");
}

}  // namespace
}  // namespace mace
