// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Filters in 16 and 8 bits, and arithmetic in 16 bits.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "mace/ops/testing/op_runner.h"
#include "mace/ops/window/conv_testing.h"

namespace mace {
namespace {

using op_test::Convolve;
using op_test::ExpectFloats;
using op_test::kConvTolerance;
using op_test::NaiveConv;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

TEST(Conv2DTypesTest, SixteenBitFilters) {
  Random random(6);
  const Value x = random.Floats({1, 6, 7, 17});
  // Multiples of 1/64 up to 2 are exact in both types.
  Value f = random.Ints({21, 3, 3, 17}, -64, 64);
  std::vector<float> exact;
  for (int32_t i : f.ints()) exact.push_back(static_cast<float>(i) / 64.0f);
  f = Value::Floats(f.shape, exact);
  for (DataType type : {DataType::kFloat16, DataType::kBfloat16}) {
    ExpectFloats(OpCase("Conv2D")
                     .Input(x)
                     .Packed(f, 1, type)
                     .String("activation", "NONE"),
                 {1, 4, 5, 21}, Convolve(x, f, {}, NaiveConv()),
                 kConvTolerance);
  }
}

// Multiples of 1/64 up to 1 are exact in bfloat16, so that only the sums are
// rounded, on processors with and without bf16 arithmetic.
Value ExactInBfloat16(Random *random, const Shape &shape) {
  std::vector<float> values;
  for (int32_t i : random->Ints(shape, -64, 64).ints()) {
    values.push_back(static_cast<float>(i) / 64.0f);
  }
  return Value::Floats(shape, values);
}

TEST(Conv2DTypesTest, Bf16Arithmetic) {
  Random random(15);
  for (int64_t channels : {3, 4, 34}) {
    const Value x = ExactInBfloat16(&random, {2, 9, 8, channels});
    const Value f = ExactInBfloat16(&random, {37, 3, 3, channels});
    const Value b = random.Floats({37});
    const Value r = random.Floats({2, 9, 8, 37});
    NaiveConv n;
    n.pads[0] = n.pads[1] = n.pads[2] = n.pads[3] = 1;
    std::vector<double> want = Convolve(x, f, b.floats(), n);
    const std::vector<float> residual = r.floats();
    for (size_t i = 0; i < want.size(); ++i) want[i] += residual[i];
    const OpCase op_case = OpCase("Conv2D")
                               .Input(x)
                               .PackedPairs(f)
                               .Constant(b)
                               .Input(r)
                               .String("padding", "SAME")
                               .Winograd(4);
    ExpectFloats(op_case, r.shape, want, kConvTolerance);
    for (const op_test::IsaResult &result : op_test::RunEverywhere(op_case)) {
      EXPECT_EQ(result.result.kernel_name.find("bf16") != std::string::npos,
                HasBf16(result.isa))
          << result.result.kernel_name;
    }
  }
}

TEST(Conv2DTypesTest, Bf16ArithmeticOfGroupsAndOfOneRow) {
  Random random(16);
  const Value x = ExactInBfloat16(&random, {1, 5, 7, 15});
  const Value f = ExactInBfloat16(&random, {9, 2, 3, 5});
  NaiveConv n;
  n.groups = 3;
  ExpectFloats(OpCase("Conv2D").Input(x).PackedPairs(f, 3).Int("groups", 3),
               {1, 4, 5, 9}, Convolve(x, f, {}, n), kConvTolerance);
  const Value whole = ExactInBfloat16(&random, {21, 5, 7, 15});
  ExpectFloats(OpCase("Conv2D").Input(x).PackedPairs(whole), {1, 1, 1, 21},
               Convolve(x, whole, {}, NaiveConv()), kConvTolerance);
}

// With this hint, activations are bf16 too: for integers, only large results
// are rounded.
TEST(Conv2DTypesTest, Bf16Activations) {
  Random random(18);
  auto whole = [&random](const Shape &shape) {
    std::vector<float> values;
    for (int32_t i : random.Ints(shape, -2, 2).ints()) {
      values.push_back(static_cast<float>(i));
    }
    return Value::Floats(shape, values);
  };
  for (int64_t channels : {3, 34, 260}) {
    for (int64_t kernel : {1, 3}) {
      const Value x = whole({2, 9, 8, channels});
      const Value f = whole({37, kernel, kernel, channels});
      const Value b = whole({37});
      const Value r = whole({2, 9, 8, 37});
      NaiveConv n;
      n.pads[0] = n.pads[1] = n.pads[2] = n.pads[3] = kernel / 2;
      const OpCase op_case = OpCase("Conv2D")
                                 .Input(x)
                                 .PackedPairs(f)
                                 .Constant(b)
                                 .String("padding", "SAME")
                                 .ComputeIn(Precision::kBfloat16);
      const std::vector<double> want = Convolve(x, f, b.floats(), n);
      const op_test::Tolerance rounded = {1e-6, 0x1p-8};
      ExpectFloats(op_case, r.shape, want, rounded);
      OpCase with_residual = op_case;
      std::vector<double> sums = want;
      for (size_t i = 0; i < sums.size(); ++i) sums[i] += r.floats()[i];
      ExpectFloats(with_residual.Input(r), r.shape, sums, rounded);
      OpCase with_sigmoid = op_case;
      for (size_t i = 0; i < sums.size(); ++i) {
        sums[i] = 1.0 / (1.0 + std::exp(-want[i]));
      }
      // The activation of a rounded sum; its slope is at most 1/4.
      ExpectFloats(with_sigmoid.String("activation", "SIGMOID"), r.shape, sums,
                   {0.01, 0x1p-7});
    }
  }
}

// The operands are rounded to nearest even; nothing else is rounded.
TEST(Conv2DTypesTest, Bf16ArithmeticRoundsItsInput) {
  const float third = 1.0f / 3.0f;
  const Value x = Value::Floats({1, 1, 2, 1}, {third, 1.0f});
  const Value f = Value::Floats({1, 1, 1, 1}, {1.0f});
  const OpCase op_case = OpCase("Conv2D").Input(x).PackedPairs(f).OnCpuOnly();
  for (const op_test::IsaResult &result : op_test::RunEverywhere(op_case)) {
    ASSERT_TRUE(IsOk(result.result.status));
    const float rounded =
        op_test::WidenBfloat16(op_test::NarrowToBfloat16(third));
    EXPECT_EQ(result.result.outputs[0].floats()[0],
              HasBf16(result.isa) ? rounded : third);
  }
}

// Integers; fp16 can represent the sums of a K-block exactly.
TEST(Conv2DTypesTest, Fp16Arithmetic) {
  Random random(17);
  auto whole = [&random](const Shape &shape) {
    std::vector<float> values;
    for (int32_t i : random.Ints(shape, -2, 2).ints()) {
      values.push_back(static_cast<float>(i));
    }
    return Value::Floats(shape, values);
  };
  for (int64_t channels : {3, 34}) {
    const Value x = whole({2, 9, 8, channels});
    const Value f = whole({37, 3, 3, channels});
    const Value b = whole({37});
    const Value r = whole({2, 9, 8, 37});
    NaiveConv n;
    n.pads[0] = n.pads[1] = n.pads[2] = n.pads[3] = 1;
    const OpCase op_case = OpCase("Conv2D")
                               .Input(x)
                               .Packed(f, 1, DataType::kFloat16)
                               .Constant(b)
                               .String("padding", "SAME")
                               .ComputeIn(Precision::kFloat16);
    const std::vector<double> want = Convolve(x, f, b.floats(), n);
    ExpectFloats(op_case, r.shape, want, kConvTolerance);
    OpCase with_residual = op_case;
    std::vector<double> sums = want;
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += r.floats()[i];
    ExpectFloats(with_residual.Input(r), r.shape, sums, kConvTolerance);
    // An activation that is not a clamp is computed in float, and rounded.
    OpCase with_sigmoid = op_case;
    for (size_t i = 0; i < sums.size(); ++i) {
      sums[i] = 1.0 / (1.0 + std::exp(-want[i]));
    }
    ExpectFloats(with_sigmoid.String("activation", "SIGMOID"), r.shape, sums,
                 {1e-6, 0x1p-11});
    for (const op_test::IsaResult &result : op_test::RunEverywhere(op_case)) {
      EXPECT_EQ(result.result.kernel_name.find("fp16") != std::string::npos,
                HasFp16(result.isa))
          << result.result.kernel_name;
    }
  }
}

// fp16 storage does not imply fp16 arithmetic.
TEST(Conv2DTypesTest, Fp16ArithmeticOnlyIfAskedFor) {
  Random random(18);
  const OpCase op_case =
      OpCase("Conv2D")
          .Input(random.Floats({1, 6, 7, 17}))
          .Packed(random.Floats({21, 1, 1, 17}), 1, DataType::kFloat16);
  for (const op_test::IsaResult &result : op_test::RunEverywhere(op_case)) {
    EXPECT_EQ(result.result.kernel_name, "gemm");
  }
}

TEST(Conv2DTypesTest, Int8Weights) {
  Random random(19);
  for (int64_t groups : {1, 2}) {
    const Value x = random.Floats({2, 9, 8, 6 * groups});
    const Value b = random.Floats({37 * groups});
    Value f = random.Floats({37 * groups, 3, 3, 6}, -0.3f, 0.2f);
    OpCase op_case("Conv2D");
    op_case.Input(x)
        .PackedScaled(f, groups, &f)
        .Constant(b)
        .Int("groups", groups);
    NaiveConv n;
    n.groups = groups;
    ExpectFloats(op_case, {2, 7, 6, 37 * groups}, Convolve(x, f, b.floats(), n),
                 kConvTolerance);
    // For any precision of the deployment.
    for (Precision type : {Precision::kFloat16, Precision::kBfloat16}) {
      op_case.ComputeIn(type);
      ExpectFloats(op_case, {2, 7, 6, 37 * groups},
                   Convolve(x, f, b.floats(), n), kConvTolerance);
    }
  }
}

}  // namespace
}  // namespace mace
