// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Compares sums and products of int16 with the definition of their arithmetic,
// to the bit, on every instruction set.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectValue;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

struct Operand {
  Shape shape;
  float scale;
  int32_t zero;
};

// The element of an operand that is at `index` of the output.
size_t At(const Shape &shape, const Shape &output, int64_t index) {
  int64_t at = 0;
  int64_t stride = 1;
  for (size_t back = 0; back < shape.rank(); ++back) {
    const int64_t dim = shape[shape.rank() - 1 - back];
    const int64_t out = output[output.rank() - 1 - back];
    at += index % out % dim * stride;
    stride *= dim;
    index /= out;
  }
  return static_cast<size_t>(at);
}

void Check(const std::string &mode,
           const Operand &a,
           const Operand &b,
           const Operand &y,
           const std::string &activation = "NONE") {
  Random random(3, Random::Quiet());
  const std::vector<int32_t> u =
      random.Ints(a.shape, INT16_MIN, INT16_MAX).ints();
  const std::vector<int32_t> v =
      random.Ints(b.shape, INT16_MIN, INT16_MAX).ints();
  const double a_ratio = double{a.scale} / double{y.scale};
  const double b_ratio = double{b.scale} / double{y.scale};
  int exponent = 0;
  std::frexp(std::max(a_ratio, b_ratio), &exponent);
  const int shift = 31 - exponent;
  const auto fixed = [&](double ratio) {
    return std::llrint(std::ldexp(ratio, shift));
  };
  std::vector<int32_t> wanted;
  for (int64_t i = 0; i < y.shape.Elements(); ++i) {
    const int64_t p = u[At(a.shape, y.shape, i)] - a.zero;
    const int64_t q = v[At(b.shape, y.shape, i)] - b.zero;
    double steps = 0;
    if (mode == "MUL") {
      steps = static_cast<double>(p * q) *
              (double{a.scale} * double{b.scale} / double{y.scale});
    } else {
      const int64_t s = p * fixed(a_ratio);
      const int64_t t = q * fixed(b_ratio);
      const int64_t sum = mode == "ADD"   ? s + t
                          : mode == "SUB" ? s - t
                          : mode == "MAX" ? std::max(s, t)
                                          : std::min(s, t);
      steps = std::ldexp(static_cast<double>(sum), -shift);
    }
    steps = std::nearbyint(std::clamp(steps, -1e6, 1e6));
    if (activation != "NONE") steps = std::max(steps, 0.0);
    if (activation == "RELUX") {
      steps = std::min(steps, std::nearbyint(1.5 / y.scale));
    }
    wanted.push_back(static_cast<int32_t>(
        std::clamp<double>(steps + y.zero, INT16_MIN, INT16_MAX)));
  }
  OpCase op("Eltwise");
  op.Input(Value::Shorts(a.shape, u))
      .Quantized({{a.scale}, {a.zero}, 0})
      .Input(Value::Shorts(b.shape, v))
      .Quantized({{b.scale}, {b.zero}, 0})
      .String("mode", mode)
      .String("activation", activation)
      .Float("activation_limit", 1.5f)
      .QuantizedOutput(DataType::kInt16, y.scale, y.zero)
      .OnCpuOnly();
  ExpectValue(op, Value::Shorts(y.shape, wanted));
}

TEST(Int16EltwiseTest, Modes) {
  const Shape shape = {2, 3, 5, 7};
  for (const char *mode : {"ADD", "SUB", "MUL", "MAX", "MIN"}) {
    Check(mode, {shape, 0.0002f, 0}, {shape, 0.0005f, 0}, {shape, 0.0006f, 0});
    Check(mode, {shape, 0.0002f, -3000}, {shape, 0.000007f, 32767},
          {shape, 0.0003f, 51});
  }
}

TEST(Int16EltwiseTest, Broadcasting) {
  const Shape shape = {2, 3, 5, 19};
  for (const Shape &other : {Shape{}, Shape{19}, Shape{2, 1, 1, 19},
                             Shape{3, 1, 1}, Shape{2, 3, 5, 1}}) {
    Check("MUL", {shape, 0.0002f, 130}, {other, 0.0001f, 0},
          {shape, 0.0001f, 128});
    Check("ADD", {other, 0.0002f, 0}, {shape, 0.0001f, 12},
          {shape, 0.0002f, 128});
  }
}

TEST(Int16EltwiseTest, ActivationsAreLimits) {
  const Shape shape = {40};
  for (const char *activation : {"RELU", "RELUX"}) {
    Check("ADD", {shape, 0.0002f, 130}, {shape, 0.0002f, -120},
          {shape, 0.0003f, 20}, activation);
  }
}

TEST(Int16EltwiseTest, ScalesThatAreFarApart) {
  const Shape shape = {40};
  for (const float scale : {1e-30f, 1e-9f, 1e-3f, 1e3f, 1e9f, 1e30f}) {
    Check("ADD", {shape, 0.0002f, 130}, {shape, 0.0001f, 12},
          {shape, scale, 128});
    Check("SUB", {shape, 0.0002f, 130}, {shape, 0.0002f * scale, 12},
          {shape, 0.0002f, 3});
  }
}

TEST(Int16EltwiseTest, Errors) {
  OpCase op("Eltwise");
  for (int i = 0; i < 2; ++i) {
    op.Input(Value::Bytes(DataType::kInt8, {2}, {1, 2}))
        .Quantized({{1.0f}, {}, 0});
  }
  op.String("mode", "ADD")
      .QuantizedOutput(DataType::kInt16, 1.0f, 0)
      .OnCpuOnly();
  ExpectError(op, MaceStatus::MACE_INVALID_ARGS,
              "its tensors have 8 bits or 16");
}

}  // namespace
}  // namespace mace
