// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Depthwise convolutions of MobileNetV1 and V2.

#include <cstdint>
#include <string>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using op_test::OpCase;
using op_test::Random;
using op_test::Value;

struct Layer {
  int64_t size;  // height and width
  int64_t channels;
  int64_t kernel;
  int64_t stride;
  int64_t multiplier = 1;
  // "fp16": float16, if the processor supports it.
  const char *type = "float";
};

constexpr Layer kLayers[] = {
    {112, 32, 3, 1},
    {112, 96, 3, 2},
    {56, 144, 3, 1},
    {56, 144, 3, 2},
    {28, 192, 3, 1},
    {28, 192, 3, 2},
    {14, 384, 3, 1},
    {14, 512, 3, 1},
    {14, 576, 3, 2},
    {7, 960, 3, 1},
    {7, 1024, 3, 1},
    {14, 480, 5, 1},
    // More than one output per channel; storage and arithmetic in 16 bits
    {112, 32, 3, 1, 2},
    {28, 192, 3, 1, 2},
    {56, 144, 3, 1, 1, "half"},
    {56, 144, 3, 1, 1, "bfloat16"},
    {56, 144, 3, 1, 1, "fp16"},
    {7, 960, 3, 1, 1, "fp16"},
    // Quantized: activations of 8 and 16 bits, weights of 8
    {56, 144, 3, 1, 1, "q8"},
    {56, 144, 3, 1, 1, "q16"},
    {14, 480, 5, 1, 1, "q8"},
    {14, 480, 5, 1, 1, "q16"},
};

OpCase Quantized(const Layer &layer, const Shape &input, Random *random) {
  const bool wide = std::string(layer.type) == "q16";
  const int64_t zero = wide ? 0 : 128;
  const int32_t most = wide ? INT16_MAX : INT8_MAX;
  const std::vector<int32_t> image =
      random->Ints(input, wide ? -most : 0, wide ? most : 2 * most).ints();
  const Shape filter = {layer.kernel, layer.kernel, layer.channels, 1};
  const float scale = 4.0f / static_cast<float>(most);
  OpCase op_case("DepthwiseConv2d");
  op_case
      .Input(wide ? Value::Shorts(input, image)
                  : Value::Bytes(DataType::kUint8, input, image))
      .Quantized({{scale}, {zero}, 0})
      .Constant(Value::Bytes(DataType::kInt8, filter,
                             random->Ints(filter, -127, 127).ints()))
      .Quantized({{0.01f}, {}, 0})
      .Ints("strides", {layer.stride, layer.stride})
      .String("padding", "SAME")
      .QuantizedOutput(wide ? DataType::kInt16 : DataType::kUint8, scale, zero)
      .OnCpuOnly();
  return op_case;
}

const bool registered = [] {
  for (const Layer &layer : kLayers) {
    const Shape input{1, layer.size, layer.size, layer.channels};
    benchmark::RegisterOp(
        benchmark::OpName(
            "DEPTHWISE_CONV_2D", input,
            MakeString("K", layer.kernel, "x", layer.kernel, "S", layer.stride,
                       "D1_SAME_", layer.multiplier),
            layer.type),
        [layer, input](Random *random) {
          const std::string type = layer.type;
          if (type == "q8" || type == "q16") {
            return Quantized(layer, input, random);
          }
          Value filter = random->Floats(
              {layer.kernel, layer.kernel, layer.channels, layer.multiplier});
          OpCase op_case("DepthwiseConv2d");
          op_case.Input(random->Floats(input));
          if (type == "bfloat16") {
            filter = op_test::InBfloat16(filter);
          } else if (type != "float") {
            filter = op_test::InFloat16(filter);
          }
          if (type == "fp16") op_case.ComputeIn(Precision::kFloat16);
          return op_case.Constant(filter)
              .Constant(random->Floats({layer.channels * layer.multiplier}))
              .Ints("strides", {layer.stride, layer.stride})
              .String("padding", "SAME")
              .String("activation", "RELUX")
              .Float("activation_limit", 6.0f);
        });
  }
  return true;
}();

}  // namespace
}  // namespace mace
