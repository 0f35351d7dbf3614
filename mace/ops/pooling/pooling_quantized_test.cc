// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Compares quantized pooling with the definition of its arithmetic, to the bit.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectValue;
using op_test::LeastByte;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

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

}  // namespace
}  // namespace mace
