// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectFloats;
using op_test::OpCase;
using op_test::Random;
using op_test::Tolerance;
using op_test::Value;

// Sums of at most 25 products of numbers below 1 in float32.
constexpr Tolerance kTolerance = {1e-5, 1e-5};

struct Geometry {
  int64_t strides[2] = {1, 1};
  int64_t pads[4] = {0, 0, 0, 0};
  int64_t output_padding[2] = {0, 0};
  int64_t dilations[2] = {1, 1};
};

Geometry Strided(int64_t stride, int64_t pad) {
  Geometry g;
  std::fill(g.strides, g.strides + 2, stride);
  std::fill(g.pads, g.pads + 4, pad);
  return g;
}

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
        b(random->Floats({input[3] * multiplier})) {}

  OpCase Make() const { return With(f); }
  OpCase With(const Value &filter) const {
    auto list = [](const int64_t *values, size_t count) {
      return std::vector<int64_t>(values, values + count);
    };
    OpCase op_case("DepthwiseDeconv2d");
    return op_case.Input(x)
        .Constant(filter)
        .Constant(b)
        .Ints("strides", list(geometry.strides, 2))
        .Ints("pads", list(geometry.pads, 4))
        .Ints("output_padding", list(geometry.output_padding, 2))
        .Ints("dilations", list(geometry.dilations, 2));
  }

  Shape OutputShape() const {
    const Geometry &g = geometry;
    Shape y{x.shape[0], 0, 0, b.shape[0]};
    for (size_t i = 0; i < 2; ++i) {
      y[i + 1] = g.strides[i] * (x.shape[i + 1] - 1) +
                 (f.shape[i] - 1) * g.dilations[i] + 1 - g.pads[i] -
                 g.pads[i + 2] + g.output_padding[i];
    }
    return y;
  }

  // Scatters every input, as the definition says.
  std::vector<double> Sums() const {
    const Geometry &g = geometry;
    const Shape y = OutputShape();
    const std::vector<float> xs = x.floats();
    const std::vector<float> fs = f.floats();
    const std::vector<float> bs = b.floats();
    std::vector<double> out(static_cast<size_t>(y.Elements()));
    for (size_t i = 0; i < out.size(); ++i) out[i] = bs[i % bs.size()];
    const int64_t multiplier = f.shape[3];
    for (int64_t at = 0; at < x.shape.Elements(); ++at) {
      const int64_t c = at % x.shape[3];
      const int64_t w = at / x.shape[3] % x.shape[2];
      const int64_t h = at / x.shape[3] / x.shape[2] % x.shape[1];
      const int64_t n = at / x.shape[3] / x.shape[2] / x.shape[1];
      for (int64_t k = 0; k < f.shape[0] * f.shape[1]; ++k) {
        const int64_t oh =
            h * g.strides[0] - g.pads[0] + k / f.shape[1] * g.dilations[0];
        const int64_t ow =
            w * g.strides[1] - g.pads[1] + k % f.shape[1] * g.dilations[1];
        if (oh < 0 || oh >= y[1] || ow < 0 || ow >= y[2]) continue;
        for (int64_t m = 0; m < multiplier; ++m) {
          const int64_t o = c * multiplier + m;
          out[static_cast<size_t>(((n * y[1] + oh) * y[2] + ow) * y[3] + o)] +=
              static_cast<double>(xs[static_cast<size_t>(at)]) *
              fs[static_cast<size_t>(k * y[3] + o)];
        }
      }
    }
    return out;
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

// Large enough for the code that 3x3 kernels of stride 1 have.
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
  // A stride beyond the kernel: the bias alone is activated, too.
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
  std::vector<float> rounded;
  for (const float v : exact.floats()) {
    rounded.push_back(op_test::WidenFloat16(op_test::NarrowToFloat16(v)));
  }
  p.f = Value::Floats(exact.shape, rounded);
  ExpectFloats(p.With(op_test::InFloat16(exact)), p.OutputShape(), p.Sums(),
               kTolerance);
  rounded.clear();
  for (const float v : exact.floats()) {
    rounded.push_back(op_test::WidenBfloat16(op_test::NarrowToBfloat16(v)));
  }
  p.f = Value::Floats(exact.shape, rounded);
  ExpectFloats(p.With(op_test::InBfloat16(exact)), p.OutputShape(), p.Sums(),
               kTolerance);
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
