// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Compares quantized resizing with bilinear interpolation in double precision,
// and with copies.

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
using op_test::LeastByte;
using op_test::OpCase;
using op_test::Random;
using op_test::RunOp;
using op_test::Value;

constexpr DataType kU8 = DataType::kUint8;
constexpr DataType kS8 = DataType::kInt8;
constexpr float kInputScale = 0.05f;

struct Resizing {
  std::string mode = "LINEAR";
  DataType from = kU8;
  DataType to = kU8;
  float output_scale = 0.06f;
  int64_t zero = 100;  // of the output, above the least number
};

OpCase Case(const Resizing &r, const Value &x, int64_t height, int64_t width) {
  OpCase op("Resize");
  op.Input(x)
      .Quantized({{kInputScale}, {LeastByte(r.from) + 100}, 0})
      .String("mode", r.mode)
      .Ints("size", {height, width})
      .QuantizedOutput(r.to, r.output_scale, LeastByte(r.to) + r.zero)
      .OnCpuOnly();
  return op;
}

// The position of output i along an axis of n elements that becomes one of m.
double Source(int64_t i, int64_t n, int64_t m) {
  const double x = (static_cast<double>(i) + 0.5) * static_cast<double>(n) /
                       static_cast<double>(m) -
                   0.5;
  return std::clamp(x, 0.0, static_cast<double>(n - 1));
}

void Check(const Resizing &r,
           const Shape &shape,
           int64_t height,
           int64_t width) {
  Random random(7, Random::Quiet());
  const std::vector<int32_t> x =
      random.Ints(shape, LeastByte(r.from), LeastByte(r.from) + 255).ints();
  const OpCase op = Case(r, Value::Bytes(r.from, shape, x), height, width);
  const Value got = RunOp(op).outputs.at(0);
  ASSERT_EQ(got.shape, (Shape{shape[0], height, width, shape[3]}));
  const int64_t c = shape[3];
  const auto number = [&](int64_t n, int64_t h, int64_t w, int64_t channel) {
    const auto at =
        static_cast<size_t>(((n * shape[1] + h) * shape[2] + w) * c + channel);
    return static_cast<double>(x[at] - LeastByte(r.from) - 100);
  };
  for (int64_t i = 0; i < got.shape.Elements(); ++i) {
    const int64_t n = i / c / width / height;
    const double v = Source(i / c / width % height, shape[1], height);
    const double u = Source(i / c % width, shape[2], width);
    const auto top = static_cast<int64_t>(v);
    const auto left = static_cast<int64_t>(u);
    const int64_t bottom = std::min(top + 1, shape[1] - 1);
    const int64_t right = std::min(left + 1, shape[2] - 1);
    const double down = v - static_cast<double>(top);
    const double across = u - static_cast<double>(left);
    const double sum = (1 - down) * (1 - across) * number(n, top, left, i % c) +
                       (1 - down) * across * number(n, top, right, i % c) +
                       down * (1 - across) * number(n, bottom, left, i % c) +
                       down * across * number(n, bottom, right, i % c);
    const double steps = std::clamp(
        sum * kInputScale / r.output_scale + static_cast<double>(r.zero), 0.0,
        255.0);
    const auto at = static_cast<size_t>(i);
    const int32_t byte =
        r.to == kU8 ? got.bytes[at] : static_cast<int8_t>(got.bytes[at]);
    // A weight of 11 bits is wrong by 2^-12, each way, of at most 255 steps.
    EXPECT_NEAR(byte - LeastByte(r.to), steps, 0.5 + 0.13) << i;
  }
  // Every instruction set, with other threads and strides: the same bits.
  ExpectValue(op, got);
}

TEST(QuantizedResizeTest, Linear) {
  for (const DataType from : {kU8, kS8}) {
    for (const DataType to : {kU8, kS8}) {
      Check({"LINEAR", from, to}, {2, 5, 4, 21}, 11, 9);
    }
  }
  for (int64_t channels : {1, 3, 16, 70}) {
    Check({}, {1, 6, 7, channels}, 12, 14);
    Check({}, {1, 6, 7, channels}, 3, 20);
  }
  Check({}, {1, 1, 1, 5}, 4, 3);
}

TEST(QuantizedResizeTest, ConstantImagesStayConstant) {
  const Value x =
      Value::Bytes(kU8, {1, 3, 5, 2}, std::vector<int32_t>(30, 201));
  Resizing same;
  same.output_scale = kInputScale;
  ExpectValue(Case(same, x, 7, 17),
              Value::Bytes(kU8, {1, 7, 17, 2}, std::vector<int32_t>(238, 201)));
}

TEST(QuantizedResizeTest, Nearest) {
  Resizing same;
  same.mode = "NEAREST";
  same.output_scale = kInputScale;
  const Value x = Value::Bytes(kU8, {1, 2, 2, 1}, {1, 2, 3, 4});
  ExpectValue(
      Case(same, x, 4, 6),
      Value::Bytes(kU8, {1, 4, 6, 1}, {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2,
                                       3, 3, 3, 4, 4, 4, 3, 3, 3, 4, 4, 4}));
  same.to = kS8;
  ExpectValue(Case(same, x, 1, 2),
              Value::Bytes(kS8, {1, 1, 2, 1}, {1 - 128, 2 - 128}));
  ExpectError(Case({"NEAREST"}, x, 4, 6), MaceStatus::MACE_UNSUPPORTED,
              "its input and its output have the same scale and zero point");
}

TEST(QuantizedResizeTest, Errors) {
  const Value x = Value::Bytes(kU8, {1, 2, 2, 1}, {1, 2, 3, 4});
  const auto unsupported = MaceStatus::MACE_UNSUPPORTED;
  ExpectError(Case({"CUBIC"}, x, 4, 4), unsupported,
              "no modes but NEAREST and LINEAR without antialias");
  ExpectError(Case({}, x, 1, 1).Int("antialias", 1), unsupported,
              "no modes but NEAREST and LINEAR without antialias");
}

}  // namespace
}  // namespace mace
