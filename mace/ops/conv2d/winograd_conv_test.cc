// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Which convolutions use Winograd's method, and that their results are the
// same.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "mace/ops/testing/op_runner.h"
#include "mace/ops/window/conv_testing.h"

namespace mace {
namespace {

using op_test::CaseInput;
using op_test::Convolve;
using op_test::ExpectFloats;
using op_test::kConvTolerance;
using op_test::NaiveConv;
using op_test::OpCase;
using op_test::OpResult;
using op_test::OpSession;
using op_test::Random;
using op_test::RunOptions;
using op_test::Value;

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
  NaiveConv n;
  std::vector<double> sums;
};

constexpr const char *kDirectKernel = "gemm over taps";

TEST(WinogradConvTest, WithinTheHint) {
  Random random(10);
  const WinogradCase c(&random);
  std::vector<double> relu, leaky;
  for (double v : c.sums) {
    relu.push_back(std::max(v, 0.0));
    leaky.push_back(v < 0 ? 0.125 * v : v);
  }
  const char *const kernels[] = {kDirectKernel, "winograd2x2", "winograd4x4"};
  for (int hint : {0, 2, 4}) {
    ExpectFloats(c.Make(hint), c.r.shape, c.sums, kConvTolerance);
    ExpectFloats(c.Make(hint).String("activation", "RELU"), c.r.shape, relu,
                 kConvTolerance);
    ExpectFloats(c.Make(hint)
                     .String("activation", "LEAKY_RELU")
                     .Float("activation_alpha", 0.125f),
                 c.r.shape, leaky, kConvTolerance);
    EXPECT_EQ(op_test::RunOp(c.Make(hint)).kernel_name, kernels[hint / 2]);
  }
}

TEST(WinogradConvTest, WithDilation) {
  Random random(9);
  WinogradCase c(&random);
  c.n.dilation[0] = c.n.pads[0] = c.n.pads[2] = 2;
  c.n.dilation[1] = c.n.pads[1] = c.n.pads[3] = 3;
  std::vector<double> leaky = Convolve(c.x, c.f, c.b.floats(), c.n);
  const std::vector<float> residual = c.r.floats();
  for (size_t i = 0; i < leaky.size(); ++i) {
    leaky[i] += residual[i];
    if (leaky[i] < 0) leaky[i] *= 0.125;
  }
  for (int hint : {2, 4}) {
    const OpCase op_case = c.Make(hint)
                               .Ints("dilations", {2, 3})
                               .String("activation", "LEAKY_RELU")
                               .Float("activation_alpha", 0.125f);
    EXPECT_EQ(op_test::RunOp(op_case).kernel_name,
              hint == 2 ? kDirectKernel : "winograd4x4");
    ExpectFloats(op_case, c.r.shape, leaky, kConvTolerance);
  }
}

TEST(WinogradConvTest, FromSixteenBitFilters) {
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
      ExpectFloats(op_case, {2, 11, 7, 40}, Convolve(x, f, {}, NaiveConv()),
                   kConvTolerance);
    }
  }
}

// So large that GPUs use the method, too.
TEST(WinogradConvTest, OfManyChannels) {
  Random random(23);
  const Value x = random.Floats({2, 17, 23, 68});
  const Value f = random.Floats({74, 3, 3, 68}, -0.1f, 0.1f);
  const Value b = random.Floats({74});
  const Value r = random.Floats({2, 17, 22, 74});
  NaiveConv n;
  n.pads[0] = n.pads[2] = n.pads[3] = 1;
  std::vector<double> sums = Convolve(x, f, b.floats(), n);
  const std::vector<float> residual = r.floats();
  for (size_t i = 0; i < sums.size(); ++i) sums[i] += residual[i];
  for (double &v : sums) v = std::max(v, 0.0);
  for (int hint : {0, 2, 4}) {
    ExpectFloats(OpCase("Conv2D")
                     .Input(x)
                     .Packed(f)
                     .Constant(b)
                     .Input(r)
                     .String("padding", "EXPLICIT")
                     .Ints("pads", {1, 0, 1, 1})
                     .String("activation", "RELU")
                     .Winograd(hint),
                 r.shape, sums, kConvTolerance);
  }
}

TEST(WinogradConvTest, FromInt8Filters) {
  Random random(20);
  const Value x = random.Floats({2, 13, 9, 32});
  Value f = random.Floats({40, 3, 3, 32}, -0.2f, 0.2f);
  for (int hint : {2, 4}) {
    OpCase op_case("Conv2D");
    op_case.Input(x).PackedScaled(f, 1, &f).Winograd(hint);
    EXPECT_NE(op_test::RunOp(op_case).kernel_name, kDirectKernel);
    ExpectFloats(op_case, {2, 11, 7, 40}, Convolve(x, f, {}, NaiveConv()),
                 kConvTolerance);
  }
}

TEST(WinogradConvTest, OnlyWhereItApplies) {
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
  EXPECT_EQ(name(f, "dilations", 2), "winograd4x4");
  EXPECT_EQ(name(f, "dilations", 9), kDirectKernel);
  EXPECT_EQ(name(random.Floats({32, 5, 5, 32}), nullptr, 0), kDirectKernel);
}

// Another shape may need another tile size; each transformed filter is kept.
TEST(WinogradConvTest, FollowsTheShape) {
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
                          Convolve(x, f, {}, NaiveConv()), kConvTolerance);
    }
  }
}

// A copy of a large filter would take most of the memory of a network. With
// narrow vectors it is kept anyway, since transforming takes longer than
// reading.
TEST(WinogradConvTest, KeepsNoCopyOfALargeFilter) {
  Random random(21);
  const Value x = random.Floats({1, 9, 9, 128});
  const Value f = random.Floats({96, 3, 3, 128}, -0.2f, 0.2f);
  const OpCase op_case = OpCase("Conv2D").Input(x).Packed(f).Winograd(4);
  ExpectFloats(op_case, {1, 7, 7, 96}, Convolve(x, f, {}, NaiveConv()),
               kConvTolerance);
  for (const op_test::IsaResult &result : op_test::RunEverywhere(op_case)) {
    const std::string isa = CpuIsaName(result.isa);
    EXPECT_EQ(result.result.kernel_name, "winograd4x4") << isa;
    const bool wide = isa.rfind("avx", 0) == 0 || isa.rfind("amx", 0) == 0;
    EXPECT_EQ(result.result.prepared_bytes == 0, wide) << isa;
  }
}

// There are so few tiles with so many channels that each of two threads
// computes the products of half of the points.
TEST(WinogradConvTest, ActivatesWhatTwoThreadsMadeTogether) {
  Random random(22);
  const Value x = random.Floats({1, 16, 15, 160});
  const Value f = random.Floats({20, 3, 3, 160}, -0.2f, 0.2f);
  const OpCase op_case = OpCase("Conv2D")
                             .Input(x)
                             .Packed(f)
                             .Winograd(4)
                             .String("activation", "LEAKY_RELU")
                             .Float("activation_alpha", 0.125f);
  std::vector<double> expected = Convolve(x, f, {}, NaiveConv());
  for (double &v : expected) v = v < 0 ? 0.125 * v : v;
  ExpectFloats(op_case, {1, 14, 13, 20}, expected, kConvTolerance);
  RunOptions options;
  const OpResult one = op_test::RunOp(op_case, options);
  EXPECT_EQ(one.kernel_name, "winograd4x4");
  for (int threads : {2, 4}) {
    options.threads = threads;
    EXPECT_EQ(op_test::RunOp(op_case, options).outputs[0].floats(),
              one.outputs[0].floats())
        << threads;
  }
}

}  // namespace
}  // namespace mace
