// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "mace/ops/testing/indexing.h"
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
using op_test::ExpectValue;
using op_test::Flat;
using op_test::ForEachIndex;
using op_test::InBfloat16;
using op_test::Index;
using op_test::InFloat16;
using op_test::kConvTolerance;
using op_test::NaiveConv;
using op_test::OpCase;
using op_test::OpResult;
using op_test::OpSession;
using op_test::Random;
using op_test::RunOptions;
using op_test::Tolerance;
using op_test::Value;

// Tests the operator's contract. The arithmetic over many geometries is tested
// with the kernel (mace/kernels/cpu/conv/direct_test.cc); 16-bit and 8-bit
// filters and 16-bit arithmetic in conv2d_types_test.cc.

TEST(Conv2DTest, ValidWithoutBias) {
  Random random(1);
  const Value x = random.Floats({2, 7, 6, 5});
  const Value f = random.Floats({19, 3, 2, 5});
  ExpectFloats(OpCase("Conv2D").Input(x).Packed(f), {2, 5, 5, 19},
               Convolve(x, f, {}, NaiveConv()), kConvTolerance);
}

TEST(Conv2DTest, SamePutsTheOddPaddingLast) {
  Random random(2);
  const Value x = random.Floats({1, 8, 9, 3});
  const Value f = random.Floats({8, 3, 3, 3});
  const Value b = random.Floats({8});
  NaiveConv n;
  n.stride[0] = n.stride[1] = 2;
  n.pads[1] = n.pads[2] = n.pads[3] =
      1;  // 8 rows need one after, 9 columns two
  ExpectFloats(OpCase("Conv2D")
                   .Input(x)
                   .Packed(f)
                   .Constant(b)
                   .Ints("strides", {2, 2})
                   .String("padding", "SAME"),
               {1, 4, 5, 8}, Convolve(x, f, b.floats(), n), kConvTolerance);
}

TEST(Conv2DTest, ExplicitPadsStridesDilations) {
  Random random(3);
  const Value x = random.Floats({1, 10, 11, 4});
  const Value f = random.Floats({33, 3, 3, 4});
  const Value b = random.Floats({33});
  NaiveConv n;
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
               ConvShape(x.shape, f.shape, n), Convolve(x, f, b.floats(), n),
               kConvTolerance);
}

TEST(Conv2DTest, Groups) {
  Random random(4);
  const Value x = random.Floats({1, 5, 5, 12});
  const Value f = random.Floats({51, 3, 3, 4});
  NaiveConv n;
  n.groups = 3;
  ExpectFloats(OpCase("Conv2D").Input(x).Packed(f, 3).Int("groups", 3),
               {1, 3, 3, 51}, Convolve(x, f, {}, n), kConvTolerance);
}

TEST(Conv2DTest, ResidualIsAddedBeforeTheActivation) {
  Random random(5);
  for (int64_t channels : {24, 600}) {  // one pass over K, and two passes
    const Value x = random.Floats({1, 6, 6, channels}, -0.3f, 0.3f);
    const Value f = random.Floats({20, 1, 1, channels}, -0.3f, 0.3f);
    const Value b = random.Floats({20});
    const Value r = random.Floats({1, 6, 6, 20});
    std::vector<double> want = Convolve(x, f, b.floats(), NaiveConv());
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
                 {1, 6, 6, 20}, want, kConvTolerance);
  }
}

TEST(Conv2DTest, OtherActivationsFollowInASecondPass) {
  Random random(9);
  // Several tasks for three threads, divided by rows and by columns.
  const Value x = random.Floats({1, 11, 9, 12});
  const Value f = random.Floats({150, 1, 1, 12});
  const Value r = random.Floats({1, 11, 9, 150});
  std::vector<double> sums = Convolve(x, f, {}, NaiveConv());
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
               r.shape, leaky, kConvTolerance);
  ExpectFloats(base().String("activation", "SIGMOID"), r.shape, sigmoid,
               kConvTolerance);
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
    op_test::ExpectNear(result.outputs[0].floats(),
                        Convolve(x, f, {}, NaiveConv()), kConvTolerance);
    EXPECT_EQ(result.macs, result.outputs[0].shape.Elements() * 36);
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

// Tests the operator's contract. The arithmetic over many geometries is tested
// with the kernel (mace/kernels/cpu/dwconv/dwconv_test.cc).

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

struct Window {
  Shape input;
  std::vector<int64_t> kernels;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilations;
  std::vector<int64_t> pads;  // top, left, bottom, right
  Shape output;
};

// The definition, one element at a time.
std::vector<float> Reference(const Window &w, const Value &x, float outside) {
  const std::vector<float> v = x.floats();
  const int64_t channels = w.input[3];
  std::vector<float> y;
  ForEachIndex(w.output, [&](const Index &o) {
    const int64_t tap = o[3] / channels;
    const int64_t row =
        o[1] * w.strides[0] - w.pads[0] + tap / w.kernels[1] * w.dilations[0];
    const int64_t column =
        o[2] * w.strides[1] - w.pads[1] + tap % w.kernels[1] * w.dilations[1];
    const bool inside =
        row >= 0 && column >= 0 && row < w.input[1] && column < w.input[2];
    y.push_back(inside ? v[Flat(w.input, {o[0], row, column, o[3] % channels})]
                       : outside);
  });
  return y;
}

OpCase CaseOf(const Window &w, const Value &x) {
  return OpCase("Im2Col")
      .Input(x)
      .Ints("kernels", w.kernels)
      .Ints("strides", w.strides)
      .Ints("dilations", w.dilations)
      .String("padding", "EXPLICIT")
      .Ints("pads", w.pads);
}

const Window kWindows[] = {
    {{2, 5, 6, 3}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, {2, 5, 6, 27}},
    {{1, 5, 7, 4}, {2, 3}, {2, 3}, {1, 1}, {0, 2, 1, 0}, {1, 3, 3, 24}},
    {{1, 6, 7, 1}, {3, 2}, {1, 2}, {2, 3}, {2, 3, 2, 3}, {1, 6, 5, 6}},
    // A window that is wider than the image, and one in the padding alone.
    {{1, 2, 2, 5}, {1, 5}, {1, 1}, {1, 1}, {0, 3, 0, 3}, {1, 2, 4, 25}},
    {{1, 2, 2, 2}, {1, 1}, {1, 1}, {1, 1}, {1, 2, 1, 2}, {1, 4, 6, 2}},
    {{0, 2, 2, 2}, {1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}, {0, 2, 2, 2}},
};

TEST(Im2ColTest, Windows) {
  Random random(53);
  for (const Window &w : kWindows) {
    SCOPED_TRACE(w.input.ToString());
    const Value x = random.Floats(w.input);
    ExpectValue(CaseOf(w, x), Value::Floats(w.output, Reference(w, x, 0)));
    for (const Shape &shape : {Shape(), Shape({1})}) {
      ExpectValue(CaseOf(w, x).Input(Value::Floats(shape, {2.5f})),
                  Value::Floats(w.output, Reference(w, x, 2.5f)));
    }
  }
}

TEST(Im2ColTest, Bytes) {
  for (const Window &w : kWindows) {
    SCOPED_TRACE(w.input.ToString());
    std::vector<float> numbers;
    for (int64_t i = 0; i < w.input.Elements(); ++i) {
      numbers.push_back(static_cast<float>(i * 7 % 251));
    }
    const std::vector<float> wanted =
        Reference(w, Value::Floats(w.input, numbers), 131);
    const auto bytes = [](const Shape &shape, const std::vector<float> &from) {
      return Value::Of<uint8_t>(DataType::kUint8, shape,
                                std::vector<uint8_t>(from.begin(), from.end()));
    };
    ExpectValue(CaseOf(w, bytes(w.input, numbers)).Input(bytes({}, {131})),
                bytes(w.output, wanted));
  }
}

TEST(Im2ColTest, Errors) {
  const auto invalid = MaceStatus::MACE_INVALID_ARGS;
  const Value x = Value::Floats({1, 3, 2, 3}, std::vector<float>(18));
  ExpectError(OpCase("Im2Col").Input(x), invalid, "kernels");
  ExpectError(OpCase("Im2Col").Input(x).Ints("kernels", {4, 1}), invalid, "4");
  const Value two = Value::Floats({2}, {0, 0});
  ExpectError(OpCase("Im2Col").Input(x).Input(two).Ints("kernels", {1, 1}),
              invalid, "outside must be one number");
  ExpectError(OpCase("Im2Col").Input(two).Ints("kernels", {1, 1}), invalid,
              "[N, H, W, C]");
}

}  // namespace
}  // namespace mace
