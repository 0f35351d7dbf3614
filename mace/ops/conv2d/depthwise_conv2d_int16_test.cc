// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Compares depthwise convolutions of int16 with the definition of their
// arithmetic, to the bit, on every instruction set.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectValue;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

constexpr float kInputScale = 0.0004f;

struct Layer {
  int64_t batch = 1;
  int64_t rows = 7;
  int64_t columns = 9;
  int64_t channels = 5;
  int64_t kernel = 3;
  int64_t stride = 1;
  int64_t dilation = 1;
  int32_t input_zero = 300;
  int32_t output_zero = -20;
  float output_scale = 0.0005f;
  // All elements and weights are the least ones of their types.
  bool extreme = false;
};

void Check(const Layer &l) {
  Random random(9, Random::Quiet());
  const Shape image_shape = {l.batch, l.rows, l.columns, l.channels};
  const Shape filter_shape = {l.kernel, l.kernel, l.channels, 1};
  const std::vector<int32_t> image =
      random.Ints(image_shape, INT16_MIN, l.extreme ? INT16_MIN : INT16_MAX)
          .ints();
  const std::vector<int32_t> filter =
      random.Ints(filter_shape, INT8_MIN, l.extreme ? INT8_MIN : INT8_MAX)
          .ints();
  std::vector<int32_t> bias;
  std::vector<float> scales;
  std::vector<float> of_sums;
  for (int64_t c = 0; c < l.channels; ++c) {
    bias.push_back(static_cast<int32_t>(random.Int(-300000, 300000)));
    scales.push_back(random.Float(0.001f, 0.004f));
    of_sums.push_back(kInputScale * scales.back());
  }
  const int64_t reach = (l.kernel - 1) * l.dilation;
  const int64_t pad = reach / 2;
  const int64_t height = (l.rows + 2 * pad - reach - 1) / l.stride + 1;
  const int64_t width = (l.columns + 2 * pad - reach - 1) / l.stride + 1;
  const auto sum_at = [&](int64_t n, int64_t y, int64_t x, int64_t c) {
    int64_t sum = bias[static_cast<size_t>(c)];
    for (int64_t i = 0; i < l.kernel; ++i) {
      for (int64_t j = 0; j < l.kernel; ++j) {
        const int64_t h = y * l.stride - pad + i * l.dilation;
        const int64_t w = x * l.stride - pad + j * l.dilation;
        if (h < 0 || w < 0 || h >= l.rows || w >= l.columns) continue;
        const int64_t at = ((n * l.rows + h) * l.columns + w) * l.channels + c;
        const int64_t tap = (i * l.kernel + j) * l.channels + c;
        sum += int64_t{image[static_cast<size_t>(at)] - l.input_zero} *
               filter[static_cast<size_t>(tap)];
      }
    }
    return sum;
  };
  std::vector<int32_t> wanted;
  for (int64_t n = 0; n < l.batch; ++n) {
    for (int64_t y = 0; y < height; ++y) {
      for (int64_t x = 0; x < width; ++x) {
        for (int64_t c = 0; c < l.channels; ++c) {
          const double scale = double{kInputScale} *
                               double{scales[static_cast<size_t>(c)]} /
                               double{l.output_scale};
          const int64_t steps =
              std::llrint(static_cast<double>(sum_at(n, y, x, c)) * scale);
          wanted.push_back(static_cast<int32_t>(std::clamp<int64_t>(
              steps + l.output_zero, INT16_MIN, INT16_MAX)));
        }
      }
    }
  }
  OpCase op("DepthwiseConv2d");
  op.Input(Value::Shorts(image_shape, image))
      .Quantized({{kInputScale}, {l.input_zero}, 0})
      .Constant(Value::Bytes(DataType::kInt8, filter_shape, filter))
      .Quantized({scales, {}, l.channels > 1 ? 2 : 0})
      .Constant(Value::Ints({l.channels}, bias))
      .Quantized({of_sums, {}, 0})
      .Ints("strides", {l.stride, l.stride})
      .Ints("dilations", {l.dilation, l.dilation})
      .String("padding", "EXPLICIT")
      .Ints("pads", {pad, pad, pad, pad})
      .QuantizedOutput(DataType::kInt16, l.output_scale, l.output_zero)
      .OnCpuOnly();
  ExpectValue(op, Value::Shorts({l.batch, height, width, l.channels}, wanted));
}

// Of each instruction set: several vectors, one, and a part of one.
TEST(Int16DepthwiseTest, Channels) {
  for (int64_t channels : {1, 5, 16, 24, 32, 61, 65}) {
    Layer layer;
    layer.channels = channels;
    Check(layer);
    layer.stride = 2;
    Check(layer);
  }
}

TEST(Int16DepthwiseTest, WindowsAndBatches) {
  for (int64_t kernel : {1, 2, 5, 7}) {
    for (int64_t stride : {1, 2, 3}) {
      Layer layer;
      layer.kernel = kernel;
      layer.stride = stride;
      layer.channels = 20;
      layer.batch = 2;
      Check(layer);
    }
  }
  Layer dilated;
  dilated.dilation = 2;
  Check(dilated);
}

// Sums of more products than int32 holds.
TEST(Int16DepthwiseTest, LargeSums) {
  Layer layer;
  layer.rows = layer.columns = 26;
  layer.kernel = 25;
  layer.channels = 3;
  layer.output_scale = 300.0f;
  layer.extreme = true;
  Check(layer);
}

TEST(Int16DepthwiseTest, SeveralOutputsForEachChannel) {
  OpCase op("DepthwiseConv2d");
  op.Input(Value::Shorts({1, 1, 1, 2}, {1, 2}))
      .Quantized({{1.0f}, {}, 0})
      .Constant(Value::Bytes(DataType::kInt8, {1, 1, 2, 2}, {1, 2, 3, 4}))
      .Quantized({{1.0f}, {}, 0})
      .QuantizedOutput(DataType::kInt16, 1.0f, 0)
      .OnCpuOnly();
  ExpectError(op, MaceStatus::MACE_UNSUPPORTED, "not 2");
}

}  // namespace
}  // namespace mace
