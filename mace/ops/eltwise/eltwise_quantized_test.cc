// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "mace/ops/testing/indexing.h"
#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectValue;
using op_test::LeastByte;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

// Compares quantized sums and products with the definition of their arithmetic,
// to the bit.

struct Operand {
  DataType type;
  Shape shape;
  float scale;
  int32_t zero;
};

std::vector<int32_t> Numbers(const Operand &x, Random *random) {
  return random->Ints(x.shape, LeastByte(x.type), LeastByte(x.type) + 255)
      .ints();
}

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
  const std::vector<int32_t> u = Numbers(a, &random);
  const std::vector<int32_t> v = Numbers(b, &random);
  const float a_ratio = a.scale / y.scale;
  const float b_ratio = b.scale / y.scale;
  int exponent = 0;
  std::frexp(std::max(a_ratio, b_ratio), &exponent);
  const int shift = std::clamp(21 - exponent, 0, 30);
  const auto fixed = [&](float ratio) {
    return static_cast<int64_t>(
        std::nearbyint(std::min(std::ldexp(ratio, shift), 2097151.0f)));
  };
  std::vector<int32_t> wanted;
  for (int64_t i = 0; i < y.shape.Elements(); ++i) {
    const int64_t p = u[At(a.shape, y.shape, i)] - a.zero;
    const int64_t q = v[At(b.shape, y.shape, i)] - b.zero;
    int64_t steps = 0;
    if (mode == "MUL") {
      steps = std::llrint(static_cast<float>(p * q) *
                          (a.scale * b.scale / y.scale));
    } else {
      const int64_t s = p * fixed(a_ratio);
      const int64_t t = q * fixed(b_ratio);
      const int64_t sum = mode == "ADD"   ? s + t
                          : mode == "SUB" ? s - t
                          : mode == "MAX" ? std::max(s, t)
                                          : std::min(s, t);
      steps = (sum + (shift == 0 ? 0 : int64_t{1} << (shift - 1))) >> shift;
    }
    if (activation != "NONE") steps = std::max<int64_t>(steps, 0);
    if (activation == "RELUX") {
      steps = std::min<int64_t>(steps, std::llrint(1.5f / y.scale));
    }
    const int32_t low = LeastByte(y.type);
    wanted.push_back(static_cast<int32_t>(
        std::clamp<int64_t>(steps + y.zero, low, low + 255)));
  }
  OpCase op("Eltwise");
  op.Input(Value::Bytes(a.type, a.shape, u))
      .Quantized({{a.scale}, {a.zero}, 0})
      .Input(Value::Bytes(b.type, b.shape, v))
      .Quantized({{b.scale}, {b.zero}, 0})
      .String("mode", mode)
      .String("activation", activation)
      .Float("activation_limit", 1.5f)
      .QuantizedOutput(y.type, y.scale, y.zero)
      .OnCpuOnly();
  ExpectValue(op, Value::Bytes(y.type, y.shape, wanted));
}

constexpr DataType kU8 = DataType::kUint8;
constexpr DataType kS8 = DataType::kInt8;

TEST(QuantizedEltwiseTest, Modes) {
  const Shape shape = {2, 3, 5, 7};
  for (const char *mode : {"ADD", "SUB", "MUL", "MAX", "MIN"}) {
    Check(mode, {kU8, shape, 0.02f, 130}, {kU8, shape, 0.05f, 7},
          {kU8, shape, 0.06f, 90});
    Check(mode, {kS8, shape, 0.02f, -3}, {kS8, shape, 0.0007f, 0},
          {kS8, shape, 0.03f, 5});
    Check(mode, {kU8, shape, 0.02f, 128}, {kS8, shape, 0.05f, -128},
          {kS8, shape, 0.04f, 127});
  }
}

TEST(QuantizedEltwiseTest, Broadcasting) {
  const Shape shape = {2, 3, 5, 19};
  for (const Shape &other : {Shape{}, Shape{19}, Shape{2, 1, 1, 19},
                             Shape{3, 1, 1}, Shape{2, 3, 5, 1}}) {
    Check("MUL", {kU8, shape, 0.02f, 130}, {kU8, other, 0.01f, 0},
          {kU8, shape, 0.01f, 128});
    Check("ADD", {kS8, other, 0.02f, 0}, {kU8, shape, 0.01f, 12},
          {kU8, shape, 0.02f, 128});
  }
}

TEST(QuantizedEltwiseTest, ActivationsAreLimits) {
  const Shape shape = {40};
  for (const char *activation : {"RELU", "RELUX"}) {
    Check("ADD", {kU8, shape, 0.02f, 130}, {kU8, shape, 0.02f, 120},
          {kU8, shape, 0.03f, 20}, activation);
  }
}

// The largest and the smallest factors.
TEST(QuantizedEltwiseTest, ScalesThatAreFarApart) {
  const Shape shape = {40};
  for (const float scale : {1e-9f, 1e-3f, 1e3f, 1e9f}) {
    Check("ADD", {kU8, shape, 0.02f, 130}, {kS8, shape, 0.01f, 12},
          {kU8, shape, scale, 128});
    Check("SUB", {kU8, shape, 0.02f, 130}, {kU8, shape, 0.02f * scale, 12},
          {kS8, shape, 0.02f, 3});
  }
}

TEST(QuantizedEltwiseTest, Errors) {
  const Value x = Value::Bytes(kU8, {2}, {1, 2});
  OpCase op("Eltwise");
  for (int i = 0; i < 2; ++i) op.Input(x).Quantized({{1.0f}, {}, 0});
  op.String("mode", "DIV").QuantizedOutput(kU8, 1.0f, 0).OnCpuOnly();
  ExpectError(op, MaceStatus::MACE_UNSUPPORTED,
              "no mode but ADD, SUB, MUL, MAX and MIN");
}

// Compares sums and products of int16 with the definition of their arithmetic,
// to the bit, on every instruction set.

struct Int16Operand {
  Shape shape;
  float scale;
  int32_t zero;
};

// The element of an operand that is at `index` of the output.
size_t AtInt16(const Shape &shape, const Shape &output, int64_t index) {
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

void CheckInt16(const std::string &mode,
                const Int16Operand &a,
                const Int16Operand &b,
                const Int16Operand &y,
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
    const int64_t p = u[AtInt16(a.shape, y.shape, i)] - a.zero;
    const int64_t q = v[AtInt16(b.shape, y.shape, i)] - b.zero;
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
    CheckInt16(mode, {shape, 0.0002f, 0}, {shape, 0.0005f, 0},
               {shape, 0.0006f, 0});
    CheckInt16(mode, {shape, 0.0002f, -3000}, {shape, 0.000007f, 32767},
               {shape, 0.0003f, 51});
  }
}

TEST(Int16EltwiseTest, Broadcasting) {
  const Shape shape = {2, 3, 5, 19};
  for (const Shape &other : {Shape{}, Shape{19}, Shape{2, 1, 1, 19},
                             Shape{3, 1, 1}, Shape{2, 3, 5, 1}}) {
    CheckInt16("MUL", {shape, 0.0002f, 130}, {other, 0.0001f, 0},
               {shape, 0.0001f, 128});
    CheckInt16("ADD", {other, 0.0002f, 0}, {shape, 0.0001f, 12},
               {shape, 0.0002f, 128});
  }
}

TEST(Int16EltwiseTest, ActivationsAreLimits) {
  const Shape shape = {40};
  for (const char *activation : {"RELU", "RELUX"}) {
    CheckInt16("ADD", {shape, 0.0002f, 130}, {shape, 0.0002f, -120},
               {shape, 0.0003f, 20}, activation);
  }
}

TEST(Int16EltwiseTest, ScalesThatAreFarApart) {
  const Shape shape = {40};
  for (const float scale : {1e-30f, 1e-9f, 1e-3f, 1e3f, 1e9f, 1e30f}) {
    CheckInt16("ADD", {shape, 0.0002f, 130}, {shape, 0.0001f, 12},
               {shape, scale, 128});
    CheckInt16("SUB", {shape, 0.0002f, 130}, {shape, 0.0002f * scale, 12},
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
