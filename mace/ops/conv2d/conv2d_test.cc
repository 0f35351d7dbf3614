// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Tests the operator's contract. The arithmetic over many geometries is tested
// with the kernel (mace/kernels/cpu/conv/direct_test.cc); 16-bit and 8-bit
// filters and 16-bit arithmetic in conv2d_types_test.cc.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "mace/ops/testing/op_runner.h"
#include "mace/ops/window/conv_testing.h"

namespace mace {
namespace {

using op_test::CaseInput;
using op_test::Convolve;
using op_test::ConvShape;
using op_test::ExpectError;
using op_test::ExpectFloats;
using op_test::kConvTolerance;
using op_test::NaiveConv;
using op_test::OpCase;
using op_test::OpResult;
using op_test::OpSession;
using op_test::Random;
using op_test::RunOptions;
using op_test::Value;

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

}  // namespace
}  // namespace mace
