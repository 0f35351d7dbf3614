// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The operator's contract; the arithmetic over many geometries is tested with
// the kernel (mace/kernels/cpu/dwconv/dwconv_test.cc).

#include <gtest/gtest.h>

#include <algorithm>
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

constexpr Tolerance kTolerance = {1e-5, 1e-5};

struct Naive {
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t top = 0;
  int64_t left = 0;
};

std::vector<double> Convolve(const Value &input,
                             const Value &filter,
                             const std::vector<float> &bias,
                             const Naive &n,
                             int64_t out_h,
                             int64_t out_w) {
  const Shape &x = input.shape;
  const Shape &f = filter.shape;
  const std::vector<float> xs = input.floats();
  const std::vector<float> fs = filter.floats();
  std::vector<double> out;
  for (int64_t b = 0; b < x[0]; ++b) {
    for (int64_t oh = 0; oh < out_h; ++oh) {
      for (int64_t ow = 0; ow < out_w; ++ow) {
        for (int64_t o = 0; o < f[2] * f[3]; ++o) {
          double sum = bias.empty() ? 0.0 : bias[static_cast<size_t>(o)];
          for (int64_t i = 0; i < f[0]; ++i) {
            for (int64_t j = 0; j < f[1]; ++j) {
              const int64_t h = oh * n.stride - n.top + i * n.dilation;
              const int64_t w = ow * n.stride - n.left + j * n.dilation;
              if (h < 0 || h >= x[1] || w < 0 || w >= x[2]) continue;
              const int64_t at = ((b * x[1] + h) * x[2] + w) * x[3];
              sum +=
                  static_cast<double>(xs[static_cast<size_t>(at + o / f[3])]) *
                  fs[static_cast<size_t>((i * f[1] + j) * f[2] * f[3] + o)];
            }
          }
          out.push_back(sum);
        }
      }
    }
  }
  return out;
}

TEST(DepthwiseConv2dTest, SameWithBiasAndRelu6) {
  Random random(1);
  const Value x = random.Floats({2, 9, 8, 37}, -4, 4);
  const Value f = random.Floats({3, 3, 37, 1});
  const Value b = random.Floats({37});
  std::vector<double> want = Convolve(x, f, b.floats(), {1, 1, 1, 1}, 9, 8);
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
  ExpectFloats(OpCase("DepthwiseConv2d")
                   .Input(x)
                   .Constant(f)
                   .Ints("strides", {2, 2})
                   .String("padding", "SAME"),
               {1, 4, 4, 20}, Convolve(x, f, {}, {2, 1, 0, 0}, 4, 4),
               kTolerance);
}

TEST(DepthwiseConv2dTest, MultiplierAndDilation) {
  Random random(3);
  const Value x = random.Floats({1, 9, 9, 5});
  const Value f = random.Floats({3, 3, 5, 3});
  const Value b = random.Floats({15});
  ExpectFloats(OpCase("DepthwiseConv2d")
                   .Input(x)
                   .Constant(f)
                   .Constant(b)
                   .Ints("dilations", {2, 2})
                   .String("padding", "EXPLICIT")
                   .Ints("pads", {1, 2, 1, 2}),
               {1, 7, 9, 15}, Convolve(x, f, b.floats(), {1, 2, 1, 2}, 7, 9),
               kTolerance);
}

TEST(DepthwiseConv2dTest, OtherActivationsFollowInASecondPass) {
  Random random(7);
  // More channels than rows: three threads cut by both.
  const Value x = random.Floats({1, 4, 3, 150});
  const Value f = random.Floats({3, 3, 150, 2});
  std::vector<double> want = Convolve(x, f, {}, Naive(), 2, 1);
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
  const std::vector<double> want =
      Convolve(x, Value::Floats(bits.shape, exact), {}, {1, 1, 2, 2}, 7, 7);
  for (DataType type : {DataType::kFloat16, DataType::kBfloat16}) {
    std::vector<uint16_t> halves;
    for (float v : exact) {
      halves.push_back(type == DataType::kFloat16
                           ? op_test::NarrowToFloat16(v)
                           : op_test::NarrowToBfloat16(v));
    }
    ExpectFloats(OpCase("DepthwiseConv2d")
                     .Input(x)
                     .Constant(Value::Of(type, bits.shape, halves))
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
    op_test::ExpectNear(result.outputs[0].floats(),
                        Convolve(x, f, {}, Naive(), shape[1] - 2, shape[2] - 2),
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

// Whole numbers, whose sums fp16 and bf16 hold: up to 9 * 9 + 3.
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
    Naive n;
    n.top = n.left = 1;
    OpCase op_case = OpCase("DepthwiseConv2d")
                         .Input(x)
                         .Constant(f)
                         .Constant(b)
                         .String("padding", "SAME");
    for (bool bf16 : {false, true}) {
      op_case.DataTypeHint(bf16 ? "bf16_bf16" : "fp16_fp16");
      ExpectFloats(op_case, x.shape, Convolve(x, f, b.floats(), n, 9, 8),
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
