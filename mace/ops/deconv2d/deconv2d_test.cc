// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "mace/ops/testing/op_runner.h"
#include "mace/ops/window/conv_testing.h"

namespace mace {
namespace {

using op_test::AsGroups;
using op_test::CaseInput;
using op_test::ConvolveTransposed;
using op_test::ExpectError;
using op_test::ExpectFloats;
using op_test::InBfloat16;
using op_test::InFloat16;
using op_test::OpCase;
using op_test::OpResult;
using op_test::OpSession;
using op_test::Random;
using op_test::RoundToHalf;
using op_test::RunOptions;
using op_test::Strided;
using op_test::Tolerance;
using op_test::TransposedShape;
using op_test::Value;
using op_test::WithGeometry;

using Geometry = op_test::TransposedGeometry;

// For sums of at most a few hundred products of numbers below 1 in float32.
constexpr Tolerance kDeconv2dTolerance = {2e-5, 2e-5};

OpCase WithAttributes(const OpCase &op_case, const Geometry &g) {
  return WithGeometry(op_case, g).Int("groups", g.groups);
}

struct Deconv2dProblem {
  Deconv2dProblem(Random *random,
                  const Shape &input,
                  int64_t outputs,
                  int64_t kernel_h,
                  int64_t kernel_w,
                  const Geometry &g)
      : geometry(g),
        x(random->Floats(input)),
        f(random->Floats(
            {outputs, kernel_h, kernel_w, input[3] / g.groups}, -0.4f, 0.3f)),
        b(random->Floats({outputs})) {}

  OpCase Make(DataType stored = DataType::kFloat32) const {
    OpCase op_case("Deconv2D");
    op_case.Input(x).Packed(f, geometry.groups, stored).Constant(b);
    return WithAttributes(op_case, geometry);
  }
  std::vector<double> Sums() const {
    return ConvolveTransposed(x, f, b.floats(), geometry);
  }
  Shape OutputShape() const {
    return TransposedShape(x.shape, f.shape, geometry);
  }
  void Check() const {
    ExpectFloats(Make(), OutputShape(), Sums(), kDeconv2dTolerance);
  }

  Geometry geometry;
  Value x, f, b;
};

// Kernels smaller than, equal to and larger than the stride; padding with which
// the first window begins inside the image.
TEST(Deconv2DTest, KernelsAndStrides) {
  Random random(1);
  for (const int64_t kernel : {1, 2, 3, 4, 5}) {
    for (const int64_t stride : {1, 2, 3, 4}) {
      for (const int64_t pad : {0, 1, 2}) {
        const Geometry g = Strided(stride, pad);
        Deconv2dProblem(&random, {2, 5, 6, 19}, 21, kernel, kernel, g).Check();
      }
    }
  }
}

// All parameters differ between height and width, and between the sides.
Geometry Unequal() {
  Geometry g;
  g.strides[0] = 3;
  g.strides[1] = 2;
  g.pads[0] = 2;
  g.pads[3] = 3;
  g.output_padding[0] = 2;
  g.output_padding[1] = 1;
  return g;
}

TEST(Deconv2DTest, UnequalAxes) {
  Random random(2);
  Geometry g = Unequal();
  Deconv2dProblem(&random, {1, 4, 7, 5}, 33, 5, 2, g).Check();
  Deconv2dProblem(&random, {3, 1, 1, 5}, 3, 2, 7, g).Check();
  g.output_padding[0] = 9;  // rows that no input contributes to
  Deconv2dProblem(&random, {1, 4, 7, 20}, 4, 3, 3, g).Check();
}

TEST(Deconv2DTest, Dilations) {
  Random random(3);
  for (const int64_t stride : {1, 2, 3, 4}) {
    for (const int64_t dilation : {2, 3, 4}) {
      Geometry g = Strided(stride, 1);
      g.dilations[0] = dilation;
      g.dilations[1] = 2;
      Deconv2dProblem(&random, {1, 5, 4, 17}, 6, 3, 4, g).Check();
    }
  }
}

TEST(Deconv2DTest, Groups) {
  Random random(4);
  for (const int64_t groups : {2, 3, 6}) {
    Geometry g = Strided(2, 1);
    g.groups = groups;
    Deconv2dProblem(&random, {2, 5, 4, 6 * 7}, 6 * 5, 4, 4, g).Check();
  }
}

// Every way of computing the row pointers of a block, sums kept in the output,
// many panels, one row.
TEST(Deconv2DTest, Depths) {
  Random random(5);
  for (const int64_t channels : {1, 3, 16, 64, 300, 600}) {
    Deconv2dProblem(&random, {1, 4, 4, channels}, 70, 4, 4, Strided(2, 1))
        .Check();
    Deconv2dProblem(&random, {1, 1, 1, channels}, 100, 2, 2, Strided(2, 0))
        .Check();
  }
}

TEST(Deconv2DTest, ManyRows) {
  Random random(6);
  Deconv2dProblem(&random, {1, 40, 33, 24}, 40, 3, 3, Strided(2, 1)).Check();
}

// Few channels: one product for all columns.
TEST(Deconv2DTest, FewChannels) {
  Random random(13);
  for (const int64_t outputs : {1, 2, 3, 5, 17}) {
    for (const int64_t kernel : {2, 3, 4, 5}) {
      for (const int64_t stride : {1, 2, 3, 4}) {
        for (const int64_t pad : {0, 1, 2}) {
          const Geometry g = Strided(stride, pad);
          const Deconv2dProblem p(&random, {2, 6, 5, 70}, outputs, kernel,
                                  kernel, g);
          p.Check();
        }
      }
    }
  }
  const Deconv2dProblem p(&random, {1, 6, 5, 70}, 3, 4, 4, Strided(2, 1));
  EXPECT_EQ(op_test::RunOp(p.Make()).kernel_name, "gemm and col2im");
}

TEST(Deconv2DTest, FewChannelsUnequalAxes) {
  Random random(14);
  Geometry g = Unequal();
  Deconv2dProblem(&random, {1, 4, 7, 45}, 3, 5, 2, g).Check();
  Deconv2dProblem(&random, {3, 1, 1, 45}, 3, 2, 7, g).Check();
  g.output_padding[0] = 9;  // rows and columns that no input contributes to
  g.output_padding[1] = 8;
  Deconv2dProblem(&random, {1, 4, 7, 50}, 4, 3, 3, g).Check();
  g.strides[1] = 7;
  Deconv2dProblem(&random, {1, 4, 7, 50}, 2, 3, 3, g).Check();
  for (const int64_t stride : {1, 2, 3, 4}) {
    for (const int64_t dilation : {2, 3, 4}) {
      Geometry d = Strided(stride, 1);
      d.dilations[0] = dilation;
      d.dilations[1] = 5 - dilation;
      Deconv2dProblem(&random, {1, 5, 4, 49}, 3, 3, 4, d).Check();
    }
  }
}

// A ring of rows that starts again, several strips and bands.
TEST(Deconv2DTest, FewChannelsOfLargeImages) {
  Random random(15);
  Deconv2dProblem(&random, {1, 70, 37, 24}, 3, 4, 4, Strided(2, 1)).Check();
  Deconv2dProblem(&random, {2, 9, 301, 20}, 4, 5, 5, Strided(2, 2)).Check();
  Deconv2dProblem(&random, {1, 5, 700, 20}, 5, 6, 6, Strided(3, 1)).Check();
  Deconv2dProblem(&random, {1, 200, 3, 33}, 1, 3, 3, Strided(1, 1)).Check();
}

TEST(Deconv2DTest, Activations) {
  Random random(7);
  for (const Deconv2dProblem &p :
       {Deconv2dProblem(&random, {2, 5, 4, 9}, 35, 3, 3, Strided(4, 1)),
        Deconv2dProblem(&random, {2, 5, 4, 60}, 3, 3, 3, Strided(4, 1))}) {
    std::vector<double> relu6;
    std::vector<double> tanh;
    for (const double v : p.Sums()) {
      relu6.push_back(std::min(std::max(v, 0.0), 0.6));
      tanh.push_back(std::tanh(v));
    }
    ExpectFloats(
        p.Make().String("activation", "RELUX").Float("activation_limit", 0.6f),
        p.OutputShape(), relu6, kDeconv2dTolerance);
    ExpectFloats(p.Make().String("activation", "TANH"), p.OutputShape(), tanh,
                 kDeconv2dTolerance);
  }
}

TEST(Deconv2DTest, WithoutBias) {
  Random random(8);
  const Geometry g = Strided(3, 0);
  for (const int64_t channels : {8, 80}) {
    const Value x = random.Floats({1, 3, 3, channels});
    const Value f = random.Floats({5, 2, 2, channels});
    OpCase op_case("Deconv2D");
    op_case.Input(x).Packed(f);
    ExpectFloats(WithAttributes(op_case, g),
                 TransposedShape(x.shape, f.shape, g),
                 ConvolveTransposed(x, f, {}, g), kDeconv2dTolerance);
  }
}

// Computed with the weights as stored; the tolerance is that of float32.
void CheckStorage(Deconv2dProblem p) {
  const int64_t groups = p.geometry.groups;
  const Value exact = p.f;
  for (const DataType type : {DataType::kFloat16, DataType::kBfloat16}) {
    p.f = op_test::RoundToHalf(exact, type == DataType::kBfloat16);
    ExpectFloats(p.Make(type), p.OutputShape(), p.Sums(), kDeconv2dTolerance);
    if (type != DataType::kBfloat16) continue;
    OpCase pairs("Deconv2D");
    pairs.Input(p.x).PackedPairs(p.f, groups).Constant(p.b);
    ExpectFloats(WithAttributes(pairs, p.geometry), p.OutputShape(), p.Sums(),
                 kDeconv2dTolerance);
  }
  OpCase scaled("Deconv2D");
  scaled.Input(p.x).PackedScaled(exact, groups, &p.f).Constant(p.b);
  ExpectFloats(WithAttributes(scaled, p.geometry), p.OutputShape(), p.Sums(),
               kDeconv2dTolerance);
}

TEST(Deconv2DTest, StorageIn16And8Bits) {
  Random random(9);
  Geometry g = Strided(2, 1);
  CheckStorage(Deconv2dProblem(&random, {1, 6, 5, 67}, 3, 4, 3, g));
  CheckStorage(Deconv2dProblem(&random, {1, 6, 5, 131}, 18, 3, 3, g));
  g.groups = 2;
  CheckStorage(Deconv2dProblem(&random, {1, 6, 5, 2 * 9}, 2 * 20, 4, 3, g));
}

// The filter is rearranged once, for all shapes.
TEST(Deconv2DTest, ShapesChange) {
  Random random(10);
  const Geometry g = Strided(2, 1);
  Deconv2dProblem p(&random, {1, 3, 3, 20}, 18, 4, 4, g);
  OpSession session(p.Make(), RunOptions());
  for (const Shape &shape :
       {Shape{1, 3, 3, 20}, Shape{2, 7, 1, 20}, Shape{0, 3, 3, 20},
        Shape{1, 0, 3, 20}, Shape{1, 12, 9, 20}}) {
    p.x = random.Floats(shape);
    std::vector<CaseInput> inputs = p.Make().inputs;
    const OpResult result = session.Run(inputs);
    EXPECT_EQ(result.violation, "");
    ASSERT_EQ(result.status.code(), MaceStatus::MACE_SUCCESS)
        << result.status.information();
    if (shape.Elements() == 0) {
      EXPECT_EQ(result.outputs[0].shape.Elements(), 0);
      continue;
    }
    EXPECT_EQ(result.outputs[0].shape, p.OutputShape());
    op_test::ExpectNear(result.outputs[0].floats(), p.Sums(),
                        kDeconv2dTolerance);
  }
}

TEST(Deconv2DTest, Reports) {
  Random random(11);
  const OpResult result = op_test::RunOp(
      Deconv2dProblem(&random, {1, 4, 5, 6}, 7, 4, 4, Strided(2, 1)).Make());
  EXPECT_EQ(result.kernel_name, "gemm in 4 phase(s)");
  EXPECT_EQ(result.macs, 4 * 5 * 7 * 4 * 4 * 6);
}

TEST(Deconv2DTest, Errors) {
  Random random(12);
  auto make = [&](const Shape &x, const Shape &f, const Shape &b) {
    OpCase op_case("Deconv2D");
    op_case.Input(random.Floats(x)).Packed(random.Floats(f));
    op_case.Constant(random.Floats(b));
    return op_case;
  };
  const auto kInvalid = MaceStatus::MACE_INVALID_ARGS;
  ExpectError(make({1, 4, 4, 3}, {5, 2, 2, 4}, {5}), kInvalid,
              "takes [N, H, W, 4]");
  ExpectError(make({4, 4, 3}, {5, 2, 2, 3}, {5}), kInvalid, "input has shape");
  ExpectError(make({1, 4, 4, 3}, {5, 2, 2, 3}, {4}), kInvalid,
              "bias has shape [4]; expected [5]");
  ExpectError(make({1, 4, 4, 3}, {5, 3}, {5}), kInvalid,
              "expected [O, KH, KW, C / groups]");
  ExpectError(make({1, 4, 4, 3}, {6, 2, 2, 3}, {6}).Int("groups", 2), kInvalid,
              "2 group(s) do not fit a filter");
  ExpectError(make({1, 2, 2, 3}, {5, 2, 2, 3}, {5}).Ints("pads", {0, 2, 0, 2}),
              kInvalid, "width");
}

using Geometry = op_test::TransposedGeometry;

// For sums of at most 25 products of numbers below 1 in float32.
constexpr Tolerance kDepthwiseDeconv2dTolerance = {1e-5, 1e-5};

struct DepthwiseDeconv2dProblem {
  DepthwiseDeconv2dProblem(Random *random,
                           const Shape &input,
                           int64_t multiplier,
                           int64_t kernel_h,
                           int64_t kernel_w,
                           const Geometry &g)
      : geometry(g),
        x(random->Floats(input)),
        f(random->Floats({kernel_h, kernel_w, input[3], multiplier})),
        b(random->Floats({input[3] * multiplier})) {
    geometry.groups = input[3];
  }

  OpCase Make() const { return With(f); }
  OpCase With(const Value &filter) const {
    OpCase op_case("DepthwiseDeconv2d");
    return WithGeometry(op_case.Input(x).Constant(filter).Constant(b),
                        geometry);
  }
  Shape OutputShape() const {
    return TransposedShape(x.shape, AsGroups(f).shape, geometry);
  }
  std::vector<double> Sums() const {
    return ConvolveTransposed(x, AsGroups(f), b.floats(), geometry);
  }
  void Check() const {
    ExpectFloats(Make(), OutputShape(), Sums(), kDepthwiseDeconv2dTolerance);
  }

  Geometry geometry;
  Value x, f, b;
};

TEST(DepthwiseDeconv2dTest, KernelsAndStrides) {
  Random random(1);
  for (const int64_t kernel : {1, 2, 3, 4, 5}) {
    for (const int64_t stride : {1, 2, 3}) {
      for (const int64_t pad : {0, 1, 2}) {
        const Geometry g = Strided(stride, pad);
        DepthwiseDeconv2dProblem(&random, {2, 5, 6, 37}, 1, kernel, kernel, g)
            .Check();
      }
    }
  }
}

TEST(DepthwiseDeconv2dTest, ChannelsAndMultipliers) {
  Random random(2);
  for (const int64_t channels : {1, 3, 16, 65}) {
    for (const int64_t multiplier : {1, 2, 5}) {
      DepthwiseDeconv2dProblem(&random, {2, 4, 7, channels}, multiplier, 4, 4,
                               Strided(2, 1))
          .Check();
    }
  }
}

// Large enough to use the code for 3x3 kernels of stride 1.
TEST(DepthwiseDeconv2dTest, Slides) {
  Random random(3);
  DepthwiseDeconv2dProblem(&random, {1, 20, 21, 64}, 1, 3, 3, Strided(1, 1))
      .Check();
  DepthwiseDeconv2dProblem(&random, {1, 20, 21, 64}, 1, 6, 6, Strided(2, 2))
      .Check();
}

TEST(DepthwiseDeconv2dTest, UnequalAxes) {
  Random random(4);
  Geometry g;
  g.strides[0] = 4;
  g.strides[1] = 2;
  g.pads[1] = 3;
  g.pads[2] = 1;
  g.output_padding[0] = 3;
  g.output_padding[1] = 1;
  DepthwiseDeconv2dProblem(&random, {2, 4, 7, 18}, 1, 3, 4, g).Check();
  DepthwiseDeconv2dProblem(&random, {2, 4, 7, 18}, 3, 3, 1, g).Check();
  g.dilations[0] = 2;
  g.dilations[1] = 3;
  DepthwiseDeconv2dProblem(&random, {2, 4, 7, 18}, 1, 3, 4, g).Check();
}

TEST(DepthwiseDeconv2dTest, Activations) {
  Random random(5);
  // A stride larger than the kernel: some outputs are only the bias, which is
  // activated too.
  const DepthwiseDeconv2dProblem p(&random, {2, 3, 3, 20}, 1, 2, 2,
                                   Strided(3, 0));
  std::vector<double> relu;
  std::vector<double> tanh;
  for (const double v : p.Sums()) {
    relu.push_back(std::max(v, 0.0));
    tanh.push_back(std::tanh(v));
  }
  ExpectFloats(p.Make().String("activation", "RELU"), p.OutputShape(), relu,
               kDepthwiseDeconv2dTolerance);
  ExpectFloats(p.Make().String("activation", "TANH"), p.OutputShape(), tanh,
               kDepthwiseDeconv2dTolerance);
}

TEST(DepthwiseDeconv2dTest, StorageIn16Bits) {
  Random random(6);
  DepthwiseDeconv2dProblem p(&random, {1, 4, 5, 19}, 1, 4, 3, Strided(2, 1));
  const Value exact = p.f;
  for (const bool bf16 : {false, true}) {
    p.f = RoundToHalf(exact, bf16);
    ExpectFloats(p.With(bf16 ? InBfloat16(exact) : InFloat16(exact)),
                 p.OutputShape(), p.Sums(), kDepthwiseDeconv2dTolerance);
  }
}

TEST(DepthwiseDeconv2dTest, Errors) {
  Random random(7);
  auto make = [&](const Shape &x, const Shape &f, const Shape &b) {
    OpCase op_case("DepthwiseDeconv2d");
    op_case.Input(random.Floats(x)).Constant(random.Floats(f));
    op_case.Constant(random.Floats(b));
    return op_case;
  };
  const auto kInvalid = MaceStatus::MACE_INVALID_ARGS;
  ExpectError(make({1, 4, 4, 3}, {2, 2, 4, 1}, {4}), kInvalid,
              "takes [N, H, W, 4]");
  ExpectError(make({1, 4, 4, 3}, {2, 2, 3}, {3}), kInvalid,
              "expected [KH, KW, C, M]");
  ExpectError(make({1, 4, 4, 3}, {2, 2, 3, 2}, {3}), kInvalid,
              "bias has shape [3]; expected [6]");
  ExpectError(make({1, 2, 4, 3}, {2, 2, 3, 1}, {3}).Ints("pads", {2, 0, 2, 0}),
              kInvalid, "height");
}

}  // namespace
}  // namespace mace
