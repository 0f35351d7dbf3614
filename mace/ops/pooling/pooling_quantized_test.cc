// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
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

// Compares quantized pooling with the definition of its arithmetic, to the bit.

struct Layer {
  DataType from = DataType::kUint8;
  DataType to = DataType::kUint8;
  std::string mode = "AVG";
  int64_t channels = 21;
  int64_t kernel = 3;
  int64_t stride = 2;
  int64_t pad = 1;
  bool include_pad = false;
  float output_scale = 0.03f;
};

constexpr int64_t kRows = 7;
constexpr int64_t kColumns = 8;
constexpr float kInputScale = 0.05f;

void Check(const Layer &l) {
  Random random(2, Random::Quiet());
  const int32_t x_zero = LeastByte(l.from) + 100;
  const int32_t y_zero = LeastByte(l.to) + 140;
  const std::vector<int32_t> x =
      random
          .Ints({2, kRows, kColumns, l.channels}, LeastByte(l.from),
                LeastByte(l.from) + 255)
          .ints();
  const auto outputs = [&l](int64_t size) {
    return (size + 2 * l.pad - l.kernel) / l.stride + 1;
  };
  const Shape shape = {2, outputs(kRows), outputs(kColumns), l.channels};
  std::vector<int32_t> wanted;
  for (int64_t n = 0; n < 2; ++n) {
    for (int64_t y = 0; y < shape[1]; ++y) {
      for (int64_t column = 0; column < shape[2]; ++column) {
        for (int64_t c = 0; c < l.channels; ++c) {
          int32_t sum = 0;
          int32_t most = -1000;
          int64_t inside = 0;
          for (int64_t i = 0; i < l.kernel; ++i) {
            for (int64_t j = 0; j < l.kernel; ++j) {
              const int64_t h = y * l.stride - l.pad + i;
              const int64_t w = column * l.stride - l.pad + j;
              if (h < 0 || w < 0 || h >= kRows || w >= kColumns) continue;
              const int64_t at =
                  ((n * kRows + h) * kColumns + w) * l.channels + c;
              const int32_t value = x[static_cast<size_t>(at)] - x_zero;
              sum += value;
              most = std::max(most, value);
              ++inside;
            }
          }
          const int64_t count = l.include_pad ? l.kernel * l.kernel : inside;
          const float ratio = kInputScale / l.output_scale;
          const bool largest = l.mode == "MAX";
          const float steps = largest ? static_cast<float>(most) * ratio
                                      : static_cast<float>(sum) *
                                            (ratio / static_cast<float>(count));
          const int32_t low = LeastByte(l.to);
          wanted.push_back(static_cast<int32_t>(std::clamp<int64_t>(
              std::llrint(steps) + y_zero, low, low + 255)));
        }
      }
    }
  }
  OpCase op("Pooling");
  op.Input(Value::Bytes(l.from, {2, kRows, kColumns, l.channels}, x))
      .Quantized({{kInputScale}, {x_zero}, 0})
      .String("mode", l.mode)
      .Ints("kernels", {l.kernel, l.kernel})
      .Ints("strides", {l.stride, l.stride})
      .String("padding", "EXPLICIT")
      .Ints("pads", {l.pad, l.pad, l.pad, l.pad})
      .Int("count_include_pad", l.include_pad ? 1 : 0)
      .QuantizedOutput(l.to, l.output_scale, y_zero)
      .OnCpuOnly();
  ExpectValue(op, Value::Bytes(l.to, shape, wanted));
}

TEST(QuantizedPoolingTest, ModesAndTypes) {
  for (const char *mode : {"AVG", "MAX"}) {
    for (DataType from : {DataType::kUint8, DataType::kInt8}) {
      for (DataType to : {DataType::kUint8, DataType::kInt8}) {
        Layer layer;
        layer.mode = mode;
        layer.from = from;
        layer.to = to;
        Check(layer);
        layer.output_scale = kInputScale;
        Check(layer);
      }
    }
  }
}

TEST(QuantizedPoolingTest, WindowsAndChannels) {
  for (int64_t channels : {1, 16, 64, 70, 131}) {
    for (const char *mode : {"AVG", "MAX"}) {
      Layer layer;
      layer.mode = mode;
      layer.channels = channels;
      layer.kernel = 7;
      layer.pad = 0;
      layer.stride = 1;
      Check(layer);
      layer.kernel = 2;
      layer.stride = 2;
      Check(layer);
    }
  }
  Layer padded;
  padded.include_pad = true;
  Check(padded);
}

// Compares poolings of int16 with the definition of their arithmetic, to the
// bit, on every instruction set.

struct Int16Layer {
  std::string mode = "AVG";
  int64_t channels = 21;
  int64_t rows = 7;
  int64_t columns = 8;
  int64_t kernel = 3;
  int64_t stride = 2;
  int64_t pad = 1;
  bool include_pad = false;
  float output_scale = 0.0003f;
  int32_t input_zero = -1000;
  int32_t output_zero = 140;
};

constexpr float kInt16InputScale = 0.0005f;

OpCase Case(const Int16Layer &l, const std::vector<int32_t> &x) {
  OpCase op("Pooling");
  op.Input(Value::Shorts({2, l.rows, l.columns, l.channels}, x))
      .Quantized({{kInt16InputScale}, {l.input_zero}, 0})
      .String("mode", l.mode)
      .Ints("kernels", {l.kernel, l.kernel})
      .Ints("strides", {l.stride, l.stride})
      .String("padding", "EXPLICIT")
      .Ints("pads", {l.pad, l.pad, l.pad, l.pad})
      .Int("count_include_pad", l.include_pad ? 1 : 0)
      .QuantizedOutput(DataType::kInt16, l.output_scale, l.output_zero)
      .OnCpuOnly();
  return op;
}

void CheckInt16(const Int16Layer &l) {
  Random random(2, Random::Quiet());
  const std::vector<int32_t> x =
      random.Ints({2, l.rows, l.columns, l.channels}, INT16_MIN, INT16_MAX)
          .ints();
  const auto outputs = [&l](int64_t size) {
    return (size + 2 * l.pad - l.kernel) / l.stride + 1;
  };
  const Shape shape = {2, outputs(l.rows), outputs(l.columns), l.channels};
  const double ratio = double{kInt16InputScale} / double{l.output_scale};
  std::vector<int32_t> wanted;
  for (int64_t i = 0; i < shape.Elements(); ++i) {
    const int64_t c = i % l.channels;
    const int64_t column = i / l.channels % shape[2];
    const int64_t row = i / l.channels / shape[2] % shape[1];
    const int64_t n = i / l.channels / shape[2] / shape[1];
    int64_t sum = 0;
    int64_t most = INT32_MIN;
    int64_t inside = 0;
    for (int64_t k = 0; k < l.kernel * l.kernel; ++k) {
      const int64_t h = row * l.stride - l.pad + k / l.kernel;
      const int64_t w = column * l.stride - l.pad + k % l.kernel;
      if (h < 0 || w < 0 || h >= l.rows || w >= l.columns) continue;
      const int64_t at = ((n * l.rows + h) * l.columns + w) * l.channels + c;
      const int64_t value = x[static_cast<size_t>(at)] - l.input_zero;
      sum += value;
      most = std::max(most, value);
      ++inside;
    }
    const int64_t count = l.include_pad ? l.kernel * l.kernel : inside;
    const double steps =
        l.mode == "MAX"
            ? static_cast<double>(most) * ratio
            : static_cast<double>(sum) * (ratio / static_cast<double>(count));
    wanted.push_back(static_cast<int32_t>(std::clamp<int64_t>(
        std::llrint(steps) + l.output_zero, INT16_MIN, INT16_MAX)));
  }
  ExpectValue(Case(l, x), Value::Shorts(shape, wanted));
}

TEST(Int16PoolingTest, ModesAndChannels) {
  for (const char *mode : {"AVG", "MAX"}) {
    for (int64_t channels : {1, 16, 21, 64}) {
      Int16Layer layer;
      layer.mode = mode;
      layer.channels = channels;
      CheckInt16(layer);
      layer.output_scale = kInt16InputScale;
      layer.input_zero = layer.output_zero = 0;
      layer.kernel = 2;
      layer.pad = 0;
      CheckInt16(layer);
    }
  }
}

TEST(Int16PoolingTest, Padding) {
  Int16Layer layer;
  layer.include_pad = true;
  CheckInt16(layer);
}

TEST(Int16PoolingTest, LargeWindows) {
  Int16Layer layer;
  layer.rows = layer.columns = 120;
  layer.channels = 2;
  layer.kernel = 120;
  layer.pad = 0;
  CheckInt16(layer);
  layer.rows = layer.columns = 256;
  layer.kernel = 256;
  const std::vector<int32_t> x(2 * 256 * 256 * 2);
  ExpectError(Case(layer, x), MaceStatus::MACE_UNSUPPORTED,
              "at most 65535 elements, not 65536");
}

}  // namespace
}  // namespace mace
