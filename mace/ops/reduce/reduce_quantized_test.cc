// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Compares quantized reductions with the definition of their arithmetic, to the
// bit.

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
using op_test::Value;

constexpr DataType kU8 = DataType::kUint8;
constexpr DataType kS8 = DataType::kInt8;
constexpr float kInputScale = 0.05f;

struct Reduction {
  std::string mode = "MEAN";
  DataType from = kU8;
  DataType to = kU8;
  float output_scale = 0.03f;
};

OpCase Case(const Reduction &r, const Value &x) {
  OpCase op("Reduce");
  op.Input(x)
      .Quantized({{kInputScale}, {LeastByte(r.from) + 100}, 0})
      .String("mode", r.mode)
      .QuantizedOutput(r.to, r.output_scale, LeastByte(r.to) + 140)
      .OnCpuOnly();
  return op;
}

void Check(const Reduction &r,
           const Shape &shape,
           const std::vector<int64_t> &axes) {
  Random random(2, Random::Quiet());
  const std::vector<int32_t> x =
      random.Ints(shape, LeastByte(r.from), LeastByte(r.from) + 255).ints();
  Shape reduced = shape;
  for (const int64_t axis : axes) reduced[static_cast<size_t>(axis)] = 1;
  const auto results = static_cast<size_t>(reduced.Elements());
  std::vector<int64_t> sums(results, 0);
  std::vector<int64_t> most(results, -1000);
  for (int64_t i = 0; i < shape.Elements(); ++i) {
    int64_t rest = i;
    int64_t at = 0;
    int64_t stride = 1;
    for (size_t axis = shape.rank(); axis-- > 0;) {
      at += rest % shape[axis] % reduced[axis] * stride;
      rest /= shape[axis];
      stride *= reduced[axis];
    }
    const int64_t q = x[static_cast<size_t>(i)] - (LeastByte(r.from) + 100);
    sums[static_cast<size_t>(at)] += q;
    most[static_cast<size_t>(at)] = std::max(most[static_cast<size_t>(at)], q);
  }
  float scale = kInputScale / r.output_scale;
  if (r.mode == "MEAN") {
    scale /= static_cast<float>(shape.Elements() / reduced.Elements());
  }
  std::vector<int32_t> wanted;
  for (size_t i = 0; i < results; ++i) {
    const int64_t sum = r.mode == "MAX" ? most[i] : sums[i];
    const int64_t steps = std::llrint(static_cast<float>(sum) * scale);
    const int32_t low = LeastByte(r.to);
    wanted.push_back(static_cast<int32_t>(
        std::clamp<int64_t>(steps + low + 140, low, low + 255)));
  }
  ExpectValue(Case(r, Value::Bytes(r.from, shape, x)).Ints("axes", axes),
              Value::Bytes(r.to, reduced, wanted));
}

TEST(QuantizedReduceTest, ModesAndTypes) {
  for (const char *mode : {"MEAN", "SUM", "MAX"}) {
    for (const DataType from : {kU8, kS8}) {
      for (const DataType to : {kU8, kS8}) {
        Check({mode, from, to, 0.03f}, {2, 7, 5, 131}, {1, 2});
      }
    }
  }
}

TEST(QuantizedReduceTest, Axes) {
  const Shape shape = {3, 4, 1, 5, 70};
  for (const std::vector<int64_t> &axes :
       std::vector<std::vector<int64_t>>{{0},
                                         {1},
                                         {2},
                                         {4},
                                         {3, 4},
                                         {0, 3},
                                         {1, 4},
                                         {0, 1},
                                         {1, 3},
                                         {0, 2, 4},
                                         {0, 1, 2, 3, 4}}) {
    for (const char *mode : {"MEAN", "MAX"}) Check({mode}, shape, axes);
  }
}

// The same of int16, whose sums are multiplied in double precision.
void CheckInt16(const std::string &mode,
                const Shape &shape,
                float output_scale) {
  constexpr int32_t kInputZero = -321;
  constexpr int32_t kOutputZero = 77;
  Random random(3, Random::Quiet());
  const std::vector<int32_t> x =
      random.Ints(shape, INT16_MIN, INT16_MAX).ints();
  const int64_t channels = shape[3];
  const int64_t pixels = shape[1] * shape[2];
  double scale = double{kInputScale} / double{output_scale};
  if (mode == "MEAN") scale /= static_cast<double>(pixels);
  std::vector<int32_t> wanted;
  for (int64_t i = 0; i < shape[0] * channels; ++i) {
    int64_t sum = 0;
    int64_t most = INT32_MIN;
    for (int64_t p = 0; p < pixels; ++p) {
      const int64_t at = (i / channels * pixels + p) * channels + i % channels;
      const int64_t q = x[static_cast<size_t>(at)] - kInputZero;
      sum += q;
      most = std::max(most, q);
    }
    const auto folded = static_cast<double>(mode == "MAX" ? most : sum);
    wanted.push_back(static_cast<int32_t>(std::clamp<int64_t>(
        std::llrint(folded * scale) + kOutputZero, INT16_MIN, INT16_MAX)));
  }
  OpCase op("Reduce");
  op.Input(Value::Shorts(shape, x))
      .Quantized({{kInputScale}, {kInputZero}, 0})
      .String("mode", mode)
      .Ints("axes", {1, 2})
      .QuantizedOutput(DataType::kInt16, output_scale, kOutputZero)
      .OnCpuOnly();
  ExpectValue(op, Value::Shorts({shape[0], 1, 1, channels}, wanted));
}

TEST(QuantizedReduceTest, Int16) {
  for (int64_t channels : {1, 16, 70}) {
    CheckInt16("MEAN", {2, 7, 5, channels}, 0.01f);
    CheckInt16("MAX", {2, 7, 5, channels}, 0.06f);
    CheckInt16("SUM", {2, 7, 5, channels}, 0.4f);
  }
  CheckInt16("MEAN", {1, 250, 250, 2}, 0.001f);
}

TEST(QuantizedReduceTest, AxesMayBeDropped) {
  ExpectValue(Case({"SUM", kU8, kU8, kInputScale},
                   Value::Bytes(kU8, {2, 2}, {101, 103, 90, 100}))
                  .Ints("axes", {1})
                  .Int("keep_dims", 0),
              Value::Bytes(kU8, {2}, {144, 130}));
}

TEST(QuantizedReduceTest, NoElements) {
  const Value none = Value::Bytes(kU8, {2, 0}, {});
  const auto of = [&](const char *mode) {
    return Case({mode, kU8, kU8, kInputScale}, none)
        .Ints("axes", {1})
        .Int("keep_dims", 0);
  };
  ExpectValue(of("SUM"), Value::Bytes(kU8, {2}, {140, 140}));
  ExpectValue(of("MAX"), Value::Bytes(kU8, {2}, {0, 0}));
  ExpectError(of("MEAN"), MaceStatus::MACE_UNSUPPORTED,
              "a mean of no elements has no value");
}

TEST(QuantizedReduceTest, Errors) {
  const Value x = Value::Bytes(kU8, {2, 2, 2, 2, 2}, std::vector<int32_t>(32));
  ExpectError(Case({"PROD"}, x), MaceStatus::MACE_UNSUPPORTED,
              "no mode but MEAN, SUM and MAX");
  ExpectError(Case({"SUM"}, x).Ints("axes", {0, 2, 4}),
              MaceStatus::MACE_UNSUPPORTED,
              "at most two groups of adjacent axes of an input of shape "
              "[2, 2, 2, 2, 2]");
}

}  // namespace
}  // namespace mace
