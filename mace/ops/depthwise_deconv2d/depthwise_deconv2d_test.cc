// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "mace/ops/testing/op_runner.h"
#include "mace/ops/window/conv_testing.h"
#include "mace/ops/window/transposed_testing.h"

namespace mace {
namespace {

using Geometry = op_test::TransposedGeometry;
using op_test::AsGroups;
using op_test::ConvolveTransposed;
using op_test::ExpectError;
using op_test::ExpectFloats;
using op_test::InBfloat16;
using op_test::InFloat16;
using op_test::OpCase;
using op_test::Random;
using op_test::RoundToHalf;
using op_test::Strided;
using op_test::Tolerance;
using op_test::TransposedShape;
using op_test::Value;
using op_test::WithGeometry;

// For sums of at most 25 products of numbers below 1 in float32.
constexpr Tolerance kTolerance = {1e-5, 1e-5};

struct Problem {
  Problem(Random *random,
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
    ExpectFloats(Make(), OutputShape(), Sums(), kTolerance);
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
        Problem(&random, {2, 5, 6, 37}, 1, kernel, kernel, g).Check();
      }
    }
  }
}

TEST(DepthwiseDeconv2dTest, ChannelsAndMultipliers) {
  Random random(2);
  for (const int64_t channels : {1, 3, 16, 65}) {
    for (const int64_t multiplier : {1, 2, 5}) {
      Problem(&random, {2, 4, 7, channels}, multiplier, 4, 4, Strided(2, 1))
          .Check();
    }
  }
}

// Large enough to use the code for 3x3 kernels of stride 1.
TEST(DepthwiseDeconv2dTest, Slides) {
  Random random(3);
  Problem(&random, {1, 20, 21, 64}, 1, 3, 3, Strided(1, 1)).Check();
  Problem(&random, {1, 20, 21, 64}, 1, 6, 6, Strided(2, 2)).Check();
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
  Problem(&random, {2, 4, 7, 18}, 1, 3, 4, g).Check();
  Problem(&random, {2, 4, 7, 18}, 3, 3, 1, g).Check();
  g.dilations[0] = 2;
  g.dilations[1] = 3;
  Problem(&random, {2, 4, 7, 18}, 1, 3, 4, g).Check();
}

TEST(DepthwiseDeconv2dTest, Activations) {
  Random random(5);
  // A stride larger than the kernel: some outputs are only the bias, which is
  // activated too.
  const Problem p(&random, {2, 3, 3, 20}, 1, 2, 2, Strided(3, 0));
  std::vector<double> relu;
  std::vector<double> tanh;
  for (const double v : p.Sums()) {
    relu.push_back(std::max(v, 0.0));
    tanh.push_back(std::tanh(v));
  }
  ExpectFloats(p.Make().String("activation", "RELU"), p.OutputShape(), relu,
               kTolerance);
  ExpectFloats(p.Make().String("activation", "TANH"), p.OutputShape(), tanh,
               kTolerance);
}

TEST(DepthwiseDeconv2dTest, StorageIn16Bits) {
  Random random(6);
  Problem p(&random, {1, 4, 5, 19}, 1, 4, 3, Strided(2, 1));
  const Value exact = p.f;
  for (const bool bf16 : {false, true}) {
    p.f = RoundToHalf(exact, bf16);
    ExpectFloats(p.With(bf16 ? InBfloat16(exact) : InFloat16(exact)),
                 p.OutputShape(), p.Sums(), kTolerance);
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
