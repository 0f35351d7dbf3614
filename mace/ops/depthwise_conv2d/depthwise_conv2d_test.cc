// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Tests the operator's contract. The arithmetic over many geometries is tested
// with the kernel (mace/kernels/cpu/dwconv/dwconv_test.cc).

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "mace/ops/testing/op_runner.h"
#include "mace/ops/window/conv_testing.h"

namespace mace {
namespace {

using op_test::AsGroups;
using op_test::CaseInput;
using op_test::Convolve;
using op_test::ConvShape;
using op_test::ExpectError;
using op_test::ExpectFloats;
using op_test::InBfloat16;
using op_test::InFloat16;
using op_test::NaiveConv;
using op_test::OpCase;
using op_test::OpResult;
using op_test::OpSession;
using op_test::Random;
using op_test::RunOptions;
using op_test::Tolerance;
using op_test::Value;

constexpr Tolerance kTolerance = {1e-5, 1e-5};

NaiveConv Padded(int64_t top, int64_t left, int64_t bottom, int64_t right) {
  NaiveConv n;
  n.pads[0] = top;
  n.pads[1] = left;
  n.pads[2] = bottom;
  n.pads[3] = right;
  return n;
}

std::vector<double> Sums(const Value &x,
                         const Value &f,
                         const std::vector<float> &bias,
                         NaiveConv n) {
  n.groups = f.shape[2];
  return Convolve(x, AsGroups(f), bias, n);
}

TEST(DepthwiseConv2dTest, SameWithBiasAndRelu6) {
  Random random(1);
  const Value x = random.Floats({2, 9, 8, 37}, -4, 4);
  const Value f = random.Floats({3, 3, 37, 1});
  const Value b = random.Floats({37});
  std::vector<double> want = Sums(x, f, b.floats(), Padded(1, 1, 1, 1));
  for (double &y : want) y = std::min(std::max(y, 0.0), 6.0);
  ExpectFloats(OpCase("DepthwiseConv2d")
                   .Input(x)
                   .Constant(f)
                   .Constant(b)
                   .String("padding", "SAME")
                   .String("activation", "RELUX")
                   .Float("activation_limit", 6.0f),
               {2, 9, 8, 37}, want, kTolerance);
}

TEST(DepthwiseConv2dTest, StrideTwoSamePadsAfter) {
  Random random(2);
  const Value x = random.Floats({1, 8, 8, 20});
  const Value f = random.Floats({3, 3, 20, 1});
  NaiveConv n = Padded(0, 0, 1, 1);
  n.stride[0] = n.stride[1] = 2;
  ExpectFloats(OpCase("DepthwiseConv2d")
                   .Input(x)
                   .Constant(f)
                   .Ints("strides", {2, 2})
                   .String("padding", "SAME"),
               {1, 4, 4, 20}, Sums(x, f, {}, n), kTolerance);
}

TEST(DepthwiseConv2dTest, MultiplierAndDilation) {
  Random random(3);
  const Value x = random.Floats({1, 9, 9, 5});
  const Value f = random.Floats({3, 3, 5, 3});
  const Value b = random.Floats({15});
  NaiveConv n = Padded(1, 2, 1, 2);
  n.dilation[0] = n.dilation[1] = 2;
  ExpectFloats(OpCase("DepthwiseConv2d")
                   .Input(x)
                   .Constant(f)
                   .Constant(b)
                   .Ints("dilations", {2, 2})
                   .String("padding", "EXPLICIT")
                   .Ints("pads", {1, 2, 1, 2}),
               {1, 7, 9, 15}, Sums(x, f, b.floats(), n), kTolerance);
}

TEST(DepthwiseConv2dTest, WindowsOfEveryKind) {
  const struct {
    int64_t kernel[2];
    int64_t stride[2];
    int64_t dilation[2];
  } windows[] = {
      {{1, 1}, {1, 1}, {1, 1}}, {{3, 3}, {2, 1}, {1, 1}},
      {{5, 5}, {2, 2}, {1, 1}}, {{1, 7}, {1, 2}, {1, 1}},
      {{7, 7}, {1, 1}, {1, 1}}, {{3, 3}, {3, 3}, {1, 1}},
      {{3, 3}, {1, 1}, {3, 2}}, {{3, 1}, {1, 1}, {1, 4}},
  };
  Random random(8);
  for (const auto &window : windows) {
    // Channels and outputs of each.
    for (const auto &[channels, multiplier] :
         {std::pair{8, 1}, {5, 1}, {6, 2}, {3, 4}, {5, 3}}) {
      const Value x = random.Floats({2, 10, 13, channels});
      const Value f = random.Floats(
          {window.kernel[0], window.kernel[1], channels, multiplier});
      const Value b = random.Floats({channels * multiplier});
      NaiveConv n = Padded(1, 2, 2, 1);
      for (size_t axis = 0; axis < 2; ++axis) {
        n.stride[axis] = window.stride[axis];
        n.dilation[axis] = window.dilation[axis];
      }
      n.groups = channels;
      ExpectFloats(
          OpCase("DepthwiseConv2d")
              .Input(x)
              .Constant(f)
              .Constant(b)
              .Ints("strides", {window.stride[0], window.stride[1]})
              .Ints("dilations", {window.dilation[0], window.dilation[1]})
              .String("padding", "EXPLICIT")
              .Ints("pads", {1, 2, 2, 1}),
          ConvShape(x.shape, AsGroups(f).shape, n), Sums(x, f, b.floats(), n),
          kTolerance);
    }
  }
}

TEST(DepthwiseConv2dTest, OtherActivationsFollowInASecondPass) {
  Random random(7);
  // More channels than rows: work for three threads is divided by both.
  const Value x = random.Floats({1, 4, 3, 150});
  const Value f = random.Floats({3, 3, 150, 2});
  std::vector<double> want = Sums(x, f, {}, NaiveConv());
  for (double &y : want) y = y < 0 ? 0.25 * y : y;
  ExpectFloats(OpCase("DepthwiseConv2d")
                   .Input(x)
                   .Constant(f)
                   .String("activation", "LEAKY_RELU")
                   .Float("activation_alpha", 0.25f),
               {1, 2, 1, 300}, want, kTolerance);
}

TEST(DepthwiseConv2dTest, SixteenBitFilters) {
  Random random(4);
  const Value x = random.Floats({1, 7, 7, 70});
  const Value bits = random.Ints({5, 5, 70, 1}, -64, 64);
  std::vector<float> exact;  // in both types
  for (int32_t i : bits.ints()) exact.push_back(static_cast<float>(i) / 64.0f);
  const Value f = Value::Floats(bits.shape, exact);
  const std::vector<double> want = Sums(x, f, {}, Padded(2, 2, 2, 2));
  for (const Value &stored : {InFloat16(f), InBfloat16(f)}) {
    ExpectFloats(OpCase("DepthwiseConv2d")
                     .Input(x)
                     .Constant(stored)
                     .String("padding", "SAME"),
                 {1, 7, 7, 70}, want, kTolerance);
  }
}

TEST(DepthwiseConv2dTest, ShapeMayChangeBetweenRuns) {
  Random random(5);
  const Value f = random.Floats({3, 3, 130, 1});
  OpCase op_case("DepthwiseConv2d");
  op_case.Input(random.Floats({1, 5, 5, 130})).Constant(f);
  RunOptions options;
  options.threads = 3;
  OpSession session(op_case, options);
  for (const Shape &shape : {Shape{1, 5, 5, 130}, Shape{2, 3, 9, 130},
                             Shape{0, 5, 5, 130}, Shape{1, 40, 3, 130}}) {
    const Value x = random.Floats(shape);
    std::vector<CaseInput> inputs = op_case.inputs;
    inputs[0].value = x;
    const OpResult result = session.Run(inputs);
    ASSERT_TRUE(IsOk(result.status)) << result.status.information();
    EXPECT_EQ(result.violation, "");
    op_test::ExpectNear(result.outputs[0].floats(), Sums(x, f, {}, NaiveConv()),
                        kTolerance);
    EXPECT_EQ(result.macs, result.outputs[0].shape.Elements() * 9);
  }
}

TEST(DepthwiseConv2dTest, NamesWhatDoesNotFit) {
  Random random(6);
  const Value f = random.Floats({3, 3, 4, 2});
  ExpectError(
      OpCase("DepthwiseConv2d").Input(random.Floats({1, 6, 6, 5})).Constant(f),
      MaceStatus::MACE_INVALID_ARGS, "[1, 6, 6, 5]");
  ExpectError(OpCase("DepthwiseConv2d")
                  .Input(random.Floats({1, 6, 6, 4}))
                  .Constant(f)
                  .Constant(random.Floats({4})),
              MaceStatus::MACE_INVALID_ARGS, "expected [8]");
  ExpectError(OpCase("DepthwiseConv2d")
                  .Input(random.Floats({1, 6, 6, 4}))
                  .Constant(random.Floats({3, 3, 4})),
              MaceStatus::MACE_INVALID_ARGS, "[KH, KW, C, M]");
}

// Integers whose sums fp16 and bf16 can represent: up to 9 * 9 + 3.
TEST(DepthwiseConv2dTest, ArithmeticIn16Bits) {
  Random random(19);
  auto whole = [&random](const Shape &shape) {
    std::vector<float> values;
    for (int32_t i : random.Ints(shape, -3, 3).ints()) {
      values.push_back(static_cast<float>(i));
    }
    return Value::Floats(shape, values);
  };
  for (int64_t channels : {1, 7, 8, 35}) {
    const Value x = whole({2, 9, 8, channels});
    const Value f = whole({3, 3, channels, 1});
    const Value b = whole({channels});
    OpCase op_case = OpCase("DepthwiseConv2d")
                         .Input(x)
                         .Constant(f)
                         .Constant(b)
                         .String("padding", "SAME");
    for (bool bf16 : {false, true}) {
      op_case.ComputeIn(op_test::HalfPrecision(bf16));
      ExpectFloats(op_case, x.shape, Sums(x, f, b.floats(), Padded(1, 1, 1, 1)),
                   kTolerance);
      for (const op_test::IsaResult &result : op_test::RunEverywhere(op_case)) {
        const bool half = bf16 ? HasBf16(result.isa) : HasFp16(result.isa);
        EXPECT_EQ(result.result.kernel_name, !half  ? "dwconv"
                                             : bf16 ? "dwconv in bf16"
                                                    : "dwconv in fp16");
      }
    }
  }
}

}  // namespace
}  // namespace mace
