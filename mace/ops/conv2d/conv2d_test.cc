// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The operator's contract; the arithmetic over many geometries is tested with
// the kernel (mace/kernels/cpu/gemm/conv_gemm_test.cc).

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
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

// A convolution with explicit padding, straight from its definition.
struct Naive {
  int64_t stride[2] = {1, 1};
  int64_t dilation[2] = {1, 1};
  int64_t pads[4] = {0, 0, 0, 0};
  int64_t groups = 1;
};

Shape OutputShape(const Shape &x, const Shape &f, const Naive &n) {
  Shape shape{x[0], 0, 0, f[0]};
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t extent = (f[axis + 1] - 1) * n.dilation[axis] + 1;
    shape[axis + 1] = (x[axis + 1] + n.pads[axis] + n.pads[axis + 2] - extent) /
                          n.stride[axis] +
                      1;
  }
  return shape;
}

std::vector<double> Convolve(const Value &input,
                             const Value &filter,
                             const std::vector<float> &bias,
                             const Naive &n) {
  const Shape &x = input.shape;
  const Shape &f = filter.shape;
  const Shape y = OutputShape(x, f, n);
  const std::vector<float> xs = input.floats();
  const std::vector<float> fs = filter.floats();
  std::vector<double> out;
  for (int64_t b = 0; b < y[0]; ++b) {
    for (int64_t oh = 0; oh < y[1]; ++oh) {
      for (int64_t ow = 0; ow < y[2]; ++ow) {
        for (int64_t o = 0; o < y[3]; ++o) {
          double sum = bias.empty() ? 0.0 : bias[static_cast<size_t>(o)];
          const int64_t first = o / (f[0] / n.groups) * f[3];
          for (int64_t i = 0; i < f[1]; ++i) {
            for (int64_t j = 0; j < f[2]; ++j) {
              const int64_t h =
                  oh * n.stride[0] - n.pads[0] + i * n.dilation[0];
              const int64_t w =
                  ow * n.stride[1] - n.pads[1] + j * n.dilation[1];
              if (h < 0 || h >= x[1] || w < 0 || w >= x[2]) continue;
              for (int64_t c = 0; c < f[3]; ++c) {
                const int64_t at = ((b * x[1] + h) * x[2] + w) * x[3];
                sum += static_cast<double>(
                           xs[static_cast<size_t>(at + first + c)]) *
                       fs[static_cast<size_t>(
                           ((o * f[1] + i) * f[2] + j) * f[3] + c)];
              }
            }
          }
          out.push_back(sum);
        }
      }
    }
  }
  return out;
}

// Values of at most 1 in sums of a few hundred products.
constexpr Tolerance kTolerance = {2e-5, 2e-5};

TEST(Conv2DTest, ValidWithoutBias) {
  Random random(1);
  const Value x = random.Floats({2, 7, 6, 5});
  const Value f = random.Floats({19, 3, 2, 5});
  ExpectFloats(OpCase("Conv2D").Input(x).Packed(f), {2, 5, 5, 19},
               Convolve(x, f, {}, Naive()), kTolerance);
}

TEST(Conv2DTest, SamePutsTheOddPaddingLast) {
  Random random(2);
  const Value x = random.Floats({1, 8, 9, 3});
  const Value f = random.Floats({8, 3, 3, 3});
  const Value b = random.Floats({8});
  Naive n;
  n.stride[0] = n.stride[1] = 2;
  n.pads[1] = n.pads[2] = n.pads[3] =
      1;  // 8 rows need one after, 9 columns two
  ExpectFloats(OpCase("Conv2D")
                   .Input(x)
                   .Packed(f)
                   .Constant(b)
                   .Ints("strides", {2, 2})
                   .String("padding", "SAME"),
               {1, 4, 5, 8}, Convolve(x, f, b.floats(), n), kTolerance);
}

TEST(Conv2DTest, ExplicitPadsStridesDilations) {
  Random random(3);
  const Value x = random.Floats({1, 10, 11, 4});
  const Value f = random.Floats({33, 3, 3, 4});
  const Value b = random.Floats({33});
  Naive n;
  n.stride[0] = 2;
  n.stride[1] = 1;
  n.dilation[0] = 1;
  n.dilation[1] = 3;
  n.pads[0] = 2;
  n.pads[1] = 1;
  n.pads[2] = 0;
  n.pads[3] = 4;
  ExpectFloats(OpCase("Conv2D")
                   .Input(x)
                   .Packed(f)
                   .Constant(b)
                   .Ints("strides", {2, 1})
                   .Ints("dilations", {1, 3})
                   .String("padding", "EXPLICIT")
                   .Ints("pads", {2, 1, 0, 4}),
               OutputShape(x.shape, f.shape, n), Convolve(x, f, b.floats(), n),
               kTolerance);
}

TEST(Conv2DTest, Groups) {
  Random random(4);
  const Value x = random.Floats({1, 5, 5, 12});
  const Value f = random.Floats({51, 3, 3, 4});
  Naive n;
  n.groups = 3;
  ExpectFloats(OpCase("Conv2D").Input(x).Packed(f, 3).Int("groups", 3),
               {1, 3, 3, 51}, Convolve(x, f, {}, n), kTolerance);
}

TEST(Conv2DTest, ResidualIsAddedBeforeTheActivation) {
  Random random(5);
  for (int64_t channels : {24, 600}) {  // one pass over K, and two
    const Value x = random.Floats({1, 6, 6, channels}, -0.3f, 0.3f);
    const Value f = random.Floats({20, 1, 1, channels}, -0.3f, 0.3f);
    const Value b = random.Floats({20});
    const Value r = random.Floats({1, 6, 6, 20});
    std::vector<double> want = Convolve(x, f, b.floats(), Naive());
    for (size_t i = 0; i < want.size(); ++i) {
      want[i] = std::min(std::max(want[i] + r.floats()[i], 0.0), 0.5);
    }
    ExpectFloats(OpCase("Conv2D")
                     .Input(x)
                     .Packed(f)
                     .Constant(b)
                     .Input(r)
                     .String("activation", "RELUX")
                     .Float("activation_limit", 0.5f),
                 {1, 6, 6, 20}, want, kTolerance);
  }
}

TEST(Conv2DTest, OtherActivationsFollowInASecondPass) {
  Random random(9);
  // Several tasks for three threads, cut by rows and by columns.
  const Value x = random.Floats({1, 11, 9, 12});
  const Value f = random.Floats({150, 1, 1, 12});
  const Value r = random.Floats({1, 11, 9, 150});
  std::vector<double> sums = Convolve(x, f, {}, Naive());
  std::vector<double> leaky, sigmoid;
  for (size_t i = 0; i < sums.size(); ++i) {
    const double v = sums[i] + r.floats()[i];
    leaky.push_back(v < 0 ? 0.125 * v : v);
    sigmoid.push_back(1.0 / (1.0 + std::exp(-v)));
  }
  auto base = [&] {
    return OpCase("Conv2D").Input(x).Packed(f).NoInput().Input(r);
  };
  ExpectFloats(base()
                   .String("activation", "LEAKY_RELU")
                   .Float("activation_alpha", 0.125f),
               r.shape, leaky, kTolerance);
  ExpectFloats(base().String("activation", "SIGMOID"), r.shape, sigmoid,
               kTolerance);
}

TEST(Conv2DTest, SixteenBitFilters) {
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
                 {1, 4, 5, 21}, Convolve(x, f, {}, Naive()), kTolerance);
  }
}

// Multiples of 1/64 up to 1 are exact in bfloat16, so that nothing is rounded
// but the sums, on processors with and without its arithmetic.
Value ExactInBfloat16(Random *random, const Shape &shape) {
  std::vector<float> values;
  for (int32_t i : random->Ints(shape, -64, 64).ints()) {
    values.push_back(static_cast<float>(i) / 64.0f);
  }
  return Value::Floats(shape, values);
}

TEST(Conv2DTest, Bf16Arithmetic) {
  Random random(15);
  for (int64_t channels : {3, 4, 34}) {
    const Value x = ExactInBfloat16(&random, {2, 9, 8, channels});
    const Value f = ExactInBfloat16(&random, {37, 3, 3, channels});
    const Value b = random.Floats({37});
    const Value r = random.Floats({2, 9, 8, 37});
    Naive n;
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
    ExpectFloats(op_case, r.shape, want, kTolerance);
    for (const op_test::IsaResult &result : op_test::RunEverywhere(op_case)) {
      EXPECT_EQ(result.result.kernel_name.find("bf16") != std::string::npos,
                HasBf16(result.isa))
          << result.result.kernel_name;
    }
  }
}

TEST(Conv2DTest, Bf16ArithmeticOfGroupsAndOfOneRow) {
  Random random(16);
  const Value x = ExactInBfloat16(&random, {1, 5, 7, 15});
  const Value f = ExactInBfloat16(&random, {9, 2, 3, 5});
  Naive n;
  n.groups = 3;
  ExpectFloats(OpCase("Conv2D").Input(x).PackedPairs(f, 3).Int("groups", 3),
               {1, 4, 5, 9}, Convolve(x, f, {}, n), kTolerance);
  const Value whole = ExactInBfloat16(&random, {21, 5, 7, 15});
  ExpectFloats(OpCase("Conv2D").Input(x).PackedPairs(whole), {1, 1, 1, 21},
               Convolve(x, whole, {}, Naive()), kTolerance);
}

// With the deployment's hint activations are bf16 too: whole numbers lose
// nothing but to the rounding of large results.
TEST(Conv2DTest, Bf16Activations) {
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
      Naive n;
      n.pads[0] = n.pads[1] = n.pads[2] = n.pads[3] = kernel / 2;
      const OpCase op_case = OpCase("Conv2D")
                                 .Input(x)
                                 .PackedPairs(f)
                                 .Constant(b)
                                 .String("padding", "SAME")
                                 .DataTypeHint("bf16_bf16");
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
      // Of a sum that was rounded; its slope is 1/4 at most.
      ExpectFloats(with_sigmoid.String("activation", "SIGMOID"), r.shape, sums,
                   {0.01, 0x1p-7});
    }
  }
}

// The operands are rounded to nearest even and nothing else is.
TEST(Conv2DTest, Bf16ArithmeticRoundsItsInput) {
  const float third = 1.0f / 3.0f;
  const Value x = Value::Floats({1, 1, 2, 1}, {third, 1.0f});
  const Value f = Value::Floats({1, 1, 1, 1}, {1.0f});
  const OpCase op_case = OpCase("Conv2D").Input(x).PackedPairs(f);
  for (const op_test::IsaResult &result : op_test::RunEverywhere(op_case)) {
    ASSERT_TRUE(IsOk(result.result.status));
    const float rounded =
        op_test::WidenBfloat16(op_test::NarrowToBfloat16(third));
    EXPECT_EQ(result.result.outputs[0].floats()[0],
              HasBf16(result.isa) ? rounded : third);
  }
}

// Whole numbers, of which fp16 holds the sums of a stretch.
TEST(Conv2DTest, Fp16Arithmetic) {
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
    Naive n;
    n.pads[0] = n.pads[1] = n.pads[2] = n.pads[3] = 1;
    const OpCase op_case = OpCase("Conv2D")
                               .Input(x)
                               .Packed(f, 1, DataType::kFloat16)
                               .Constant(b)
                               .String("padding", "SAME")
                               .DataTypeHint("fp16_fp16");
    const std::vector<double> want = Convolve(x, f, b.floats(), n);
    ExpectFloats(op_case, r.shape, want, kTolerance);
    OpCase with_residual = op_case;
    std::vector<double> sums = want;
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += r.floats()[i];
    ExpectFloats(with_residual.Input(r), r.shape, sums, kTolerance);
    // An activation that is no clamp is computed in float, and rounded.
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

// Storage in fp16 does not ask for its arithmetic.
TEST(Conv2DTest, Fp16ArithmeticOnlyIfAskedFor) {
  Random random(18);
  const OpCase op_case =
      OpCase("Conv2D")
          .Input(random.Floats({1, 6, 7, 17}))
          .Packed(random.Floats({21, 1, 1, 17}), 1, DataType::kFloat16)
          .DataTypeHint("fp16_fp32");
  for (const op_test::IsaResult &result : op_test::RunEverywhere(op_case)) {
    EXPECT_EQ(result.result.kernel_name, "gemm");
  }
}

TEST(Conv2DTest, Int8Weights) {
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
    Naive n;
    n.groups = groups;
    ExpectFloats(op_case, {2, 7, 6, 37 * groups}, Convolve(x, f, b.floats(), n),
                 kTolerance);
    // Whatever the deployment computes in elsewhere.
    for (const char *type : {"fp16_fp16", "bf16_bf16"}) {
      op_case.DataTypeHint(type);
      ExpectFloats(op_case, {2, 7, 6, 37 * groups},
                   Convolve(x, f, b.floats(), n), kTolerance);
    }
  }
}

TEST(Conv2DTest, ShapeMayChangeBetweenRuns) {
  Random random(7);
  const Value f = random.Floats({8, 3, 3, 4});
  OpCase op_case("Conv2D");
  op_case.Input(random.Floats({1, 6, 6, 4})).Packed(f);
  OpSession session(op_case, RunOptions());
  for (const Shape &shape : {Shape{1, 6, 6, 4}, Shape{2, 9, 4, 4},
                             Shape{0, 6, 6, 4}, Shape{1, 3, 3, 4}}) {
    const Value x = random.Floats(shape);
    std::vector<CaseInput> inputs = op_case.inputs;
    inputs[0].value = x;
    const OpResult result = session.Run(inputs);
    ASSERT_TRUE(IsOk(result.status)) << result.status.information();
    EXPECT_EQ(result.violation, "");
    op_test::ExpectNear(result.outputs[0].floats(), Convolve(x, f, {}, Naive()),
                        kTolerance);
    EXPECT_EQ(result.macs, result.outputs[0].shape.Elements() * 36);
  }
}

// 3x3 over an image large enough for any tile.
struct WinogradCase {
  explicit WinogradCase(Random *random)
      : x(random->Floats({1, 19, 17, 24})),
        f(random->Floats({35, 3, 3, 24}, -0.2f, 0.2f)),
        b(random->Floats({35})),
        r(random->Floats({1, 19, 17, 35})) {
    n.pads[0] = n.pads[1] = n.pads[2] = n.pads[3] = 1;
    const std::vector<float> residual = r.floats();
    sums = Convolve(x, f, b.floats(), n);
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += residual[i];
  }
  OpCase Make(int hint) const {
    return OpCase("Conv2D")
        .Input(x)
        .Packed(f)
        .Constant(b)
        .Input(r)
        .String("padding", "SAME")
        .Winograd(hint);
  }

  Value x, f, b, r;
  Naive n;
  std::vector<double> sums;
};

constexpr const char *kDirectKernel = "gemm over taps";

TEST(Conv2DTest, WinogradWithinTheHint) {
  Random random(10);
  const WinogradCase c(&random);
  std::vector<double> relu, leaky;
  for (double v : c.sums) {
    relu.push_back(std::max(v, 0.0));
    leaky.push_back(v < 0 ? 0.125 * v : v);
  }
  const char *const kernels[] = {kDirectKernel, "winograd2x2", "winograd4x4"};
  for (int hint : {0, 2, 4}) {
    ExpectFloats(c.Make(hint), c.r.shape, c.sums, kTolerance);
    ExpectFloats(c.Make(hint).String("activation", "RELU"), c.r.shape, relu,
                 kTolerance);
    ExpectFloats(c.Make(hint)
                     .String("activation", "LEAKY_RELU")
                     .Float("activation_alpha", 0.125f),
                 c.r.shape, leaky, kTolerance);
    EXPECT_EQ(op_test::RunOp(c.Make(hint)).kernel_name, kernels[hint / 2]);
  }
}

TEST(Conv2DTest, WinogradFromSixteenBitFilters) {
  Random random(11);
  const Value x = random.Floats({2, 13, 9, 32});
  Value f = random.Ints({40, 3, 3, 32}, -64, 64);
  std::vector<float> exact;
  for (int32_t i : f.ints()) exact.push_back(static_cast<float>(i) / 128.0f);
  f = Value::Floats(f.shape, exact);
  for (DataType type : {DataType::kFloat16, DataType::kBfloat16}) {
    for (int hint : {2, 4}) {
      const OpCase op_case =
          OpCase("Conv2D").Input(x).Packed(f, 1, type).Winograd(hint);
      EXPECT_NE(op_test::RunOp(op_case).kernel_name, kDirectKernel);
      ExpectFloats(op_case, {2, 11, 7, 40}, Convolve(x, f, {}, Naive()),
                   kTolerance);
    }
  }
}

TEST(Conv2DTest, WinogradFromInt8Filters) {
  Random random(20);
  const Value x = random.Floats({2, 13, 9, 32});
  Value f = random.Floats({40, 3, 3, 32}, -0.2f, 0.2f);
  for (int hint : {2, 4}) {
    OpCase op_case("Conv2D");
    op_case.Input(x).PackedScaled(f, 1, &f).Winograd(hint);
    EXPECT_NE(op_test::RunOp(op_case).kernel_name, kDirectKernel);
    ExpectFloats(op_case, {2, 11, 7, 40}, Convolve(x, f, {}, Naive()),
                 kTolerance);
  }
}

TEST(Conv2DTest, WinogradOnlyWhereItApplies) {
  Random random(12);
  const Value x = random.Floats({1, 20, 20, 32});
  const Value f = random.Floats({32, 3, 3, 32});
  auto name = [&](const Value &filter, const char *key, int64_t value) {
    OpCase op_case = OpCase("Conv2D").Input(x).Packed(filter).Winograd(4);
    if (key != nullptr) op_case.Ints(key, {value, value});
    const OpResult result = op_test::RunOp(op_case);
    EXPECT_TRUE(IsOk(result.status)) << result.status.information();
    return result.kernel_name;
  };
  EXPECT_EQ(name(f, nullptr, 0), "winograd4x4");
  EXPECT_EQ(name(f, "strides", 2), kDirectKernel);
  EXPECT_EQ(name(f, "dilations", 2), kDirectKernel);
  EXPECT_EQ(name(random.Floats({32, 5, 5, 32}), nullptr, 0), kDirectKernel);
}

// Another shape may want another tile; each transformed filter is kept.
TEST(Conv2DTest, WinogradFollowsTheShape) {
  Random random(13);
  const Value f = random.Floats({64, 3, 3, 64}, -0.2f, 0.2f);
  OpCase op_case("Conv2D");
  op_case.Input(random.Floats({1, 3, 3, 64})).Packed(f).Winograd(4);
  OpSession session(op_case, RunOptions());
  for (int round = 0; round < 2; ++round) {
    for (const auto &[size, kernel] :
         std::vector<std::pair<int64_t, std::string>>{
             {3, "gemv"}, {6, "winograd2x2"}, {20, "winograd4x4"}}) {
      const Value x = random.Floats({1, size, size, 64});
      std::vector<CaseInput> inputs = op_case.inputs;
      inputs[0].value = x;
      const OpResult result = session.Run(inputs);
      ASSERT_TRUE(IsOk(result.status)) << result.status.information();
      EXPECT_EQ(result.violation, "");
      EXPECT_EQ(result.kernel_name, kernel) << size;
      op_test::ExpectNear(result.outputs[0].floats(),
                          Convolve(x, f, {}, Naive()), kTolerance);
    }
  }
}

// A copy of a large filter would be most of the memory of a network. Narrow
// vectors keep one all the same, since transforming takes them longer than
// reading it.
TEST(Conv2DTest, WinogradKeepsNoCopyOfALargeFilter) {
  Random random(21);
  const Value x = random.Floats({1, 9, 9, 128});
  const Value f = random.Floats({96, 3, 3, 128}, -0.2f, 0.2f);
  const OpCase op_case = OpCase("Conv2D").Input(x).Packed(f).Winograd(4);
  ExpectFloats(op_case, {1, 7, 7, 96}, Convolve(x, f, {}, Naive()), kTolerance);
  for (const op_test::IsaResult &result : op_test::RunEverywhere(op_case)) {
    const std::string isa = CpuIsaName(result.isa);
    EXPECT_EQ(result.result.kernel_name, "winograd4x4") << isa;
    const bool wide = isa.rfind("avx", 0) == 0 || isa.rfind("amx", 0) == 0;
    EXPECT_EQ(result.result.prepared_bytes == 0, wide) << isa;
  }
}

TEST(Conv2DTest, NamesWhatDoesNotFit) {
  Random random(8);
  const Value x = random.Floats({1, 6, 6, 4});
  const Value f = random.Floats({8, 3, 3, 4});
  auto base = [&] { return OpCase("Conv2D").Input(x).Packed(f); };
  ExpectError(OpCase("Conv2D").Input(random.Floats({1, 6, 6, 5})).Packed(f),
              MaceStatus::MACE_INVALID_ARGS, "[1, 6, 6, 5]");
  ExpectError(OpCase("Conv2D").Input(random.Floats({6, 6, 4})).Packed(f),
              MaceStatus::MACE_INVALID_ARGS, "[6, 6, 4]");
  ExpectError(OpCase("Conv2D").Input(random.Floats({1, 2, 6, 4})).Packed(f),
              MaceStatus::MACE_INVALID_ARGS, "height");
  ExpectError(base().Constant(random.Floats({7})),
              MaceStatus::MACE_INVALID_ARGS, "bias has shape [7]");
  ExpectError(base().Int("groups", 3), MaceStatus::MACE_INVALID_ARGS, "group");
  ExpectError(base().NoInput().Input(random.Floats({1, 4, 4, 7})),
              MaceStatus::MACE_INVALID_ARGS, "residual has shape");
  ExpectError(base().String("activation", "PRELU"),
              MaceStatus::MACE_INVALID_ARGS, "PRELU");
  ExpectError(
      base().String("activation", "RELUX").Float("activation_limit", -1),
      MaceStatus::MACE_INVALID_ARGS, "activation_limit");
}

}  // namespace
}  // namespace mace
