// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Convolutions of ResNet-50, MobileNetV2, InceptionV3 and DeepLabV3.

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
  int64_t kernel_h;
  int64_t kernel_w;
  int64_t stride;
  int64_t filters;
  const char *type = "float";  // of AddWeights
  int winograd = 0;            // the deployment's hint
  int64_t groups = 1;
  int64_t dilation = 1;
};

constexpr Layer kLayers[] = {
    // ResNet-50
    {224, 3, 7, 7, 2, 64},
    {56, 64, 1, 1, 1, 64},
    {56, 64, 3, 3, 1, 64},
    {56, 64, 1, 1, 1, 256},
    {56, 256, 1, 1, 1, 64},
    {56, 256, 1, 1, 2, 512},
    {28, 128, 3, 3, 1, 128},
    {28, 512, 1, 1, 1, 128},
    {14, 256, 3, 3, 1, 256},
    {14, 256, 1, 1, 1, 1024},
    {14, 1024, 1, 1, 1, 256},
    {14, 512, 3, 3, 2, 512},
    {7, 512, 3, 3, 1, 512},
    {7, 512, 1, 1, 1, 2048},
    {7, 2048, 1, 1, 1, 512},
    // MobileNet
    {224, 3, 3, 3, 2, 32},
    {112, 32, 1, 1, 1, 16},
    {112, 16, 1, 1, 1, 96},
    {56, 144, 1, 1, 1, 24},
    {28, 32, 1, 1, 1, 192},
    {14, 64, 1, 1, 1, 384},
    {7, 960, 1, 1, 1, 160},
    {7, 320, 1, 1, 1, 1280},
    {7, 1024, 1, 1, 1, 1024},
    // InceptionV3
    {17, 192, 1, 7, 1, 192},
    {17, 192, 7, 1, 1, 192},
    // Storage in 16 and 8 bits
    {14, 256, 3, 3, 1, 256, "half"},
    {7, 960, 1, 1, 1, 160, "half"},
    {14, 256, 3, 3, 1, 256, "bfloat16"},
    {14, 256, 3, 3, 1, 256, "int8"},
    {7, 960, 1, 1, 1, 160, "int8"},
    {7, 512, 1, 1, 1, 2048, "int8"},
    // Arithmetic in 16 bits
    {224, 3, 7, 7, 2, 64, "bf16"},
    {14, 256, 3, 3, 1, 256, "bf16"},
    {14, 256, 1, 1, 1, 1024, "bf16"},
    {7, 960, 1, 1, 1, 160, "bf16"},
    {14, 256, 3, 3, 1, 256, "bf16", 4},
    {224, 3, 7, 7, 2, 64, "fp16"},
    {14, 256, 3, 3, 1, 256, "fp16"},
    {14, 256, 1, 1, 1, 1024, "fp16"},
    {7, 960, 1, 1, 1, 160, "fp16"},
    // Quantized: activations of 8 and 16 bits, weights of 8
    {224, 3, 7, 7, 2, 64, "q8"},
    {224, 3, 7, 7, 2, 64, "q16"},
    {56, 64, 3, 3, 1, 64, "q8"},
    {56, 64, 3, 3, 1, 64, "q16"},
    {14, 256, 3, 3, 1, 256, "q8"},
    {14, 256, 3, 3, 1, 256, "q16"},
    {7, 960, 1, 1, 1, 160, "q8"},
    {7, 960, 1, 1, 1, 160, "q16"},
    // Winograd's method for some of the layers above
    {56, 64, 3, 3, 1, 64, "float", 2},
    {56, 64, 3, 3, 1, 64, "float", 4},
    {28, 128, 3, 3, 1, 128, "float", 2},
    {28, 128, 3, 3, 1, 128, "float", 4},
    {14, 256, 3, 3, 1, 256, "float", 2},
    {14, 256, 3, 3, 1, 256, "float", 4},
    {7, 512, 3, 3, 1, 512, "float", 2},
    {7, 512, 3, 3, 1, 512, "float", 4},
    {14, 256, 3, 3, 1, 256, "fp16", 2},
    {14, 256, 3, 3, 1, 256, "fp16", 4},
    // Groups: ShuffleNet's 1x1, ResNeXt-50's 3x3
    {28, 136, 1, 1, 1, 136, "float", 0, 4},
    {56, 128, 3, 3, 1, 128, "float", 0, 32},
    {14, 512, 3, 3, 1, 512, "float", 0, 32},
    // DeepLabV3: its last layers, and its pyramid, most of whose taps are
    // outside the image
    {16, 512, 3, 3, 1, 512, "float", 0, 1, 4},
    {16, 2048, 3, 3, 1, 256, "float", 0, 1, 12},
    {16, 2048, 3, 3, 1, 256, "float", 0, 1, 24},
    {16, 2048, 3, 3, 1, 256, "bf16", 0, 1, 12},
    // Quantized; one channel in each group: depthwise
    {14, 256, 3, 3, 1, 256, "uint8"},
    {112, 32, 3, 3, 1, 32, "uint8", 0, 32},
    {112, 32, 3, 3, 1, 64, "uint8", 0, 32},
    {28, 192, 3, 3, 1, 384, "uint8", 0, 192},
};

OpCase QuantizedCase(const Layer &layer, const Shape &input, Random *random) {
  const Shape filter{layer.filters, layer.kernel_h, layer.kernel_w,
                     layer.channels / layer.groups};
  OpCase op_case("Conv2D");
  op_case
      .Input(Value::Bytes(DataType::kUint8, input,
                          random->Ints(input, 0, 255).ints()))
      .Quantized({{0.02f}, {121}, 0})
      .Constant(Value::Bytes(DataType::kInt8, filter,
                             random->Ints(filter, -127, 127).ints()))
      .Quantized({{0.01f}, {}, 0})
      .Constant(random->Ints({layer.filters}, -1000, 1000))
      .Quantized({{0.02f * 0.01f}, {}, 0})
      .QuantizedOutput(DataType::kUint8, 0.2f, 0);
  return op_case;
}

OpCase Quantized(const Layer &layer, const Shape &input, Random *random) {
  const bool wide = std::string(layer.type) == "q16";
  const int64_t zero = wide ? 0 : 128;
  const int32_t most = wide ? INT16_MAX : INT8_MAX;
  const std::vector<int32_t> image =
      random->Ints(input, wide ? -most : 0, wide ? most : 2 * most).ints();
  const Shape filter = {layer.filters, layer.kernel_h, layer.kernel_w,
                        layer.channels / layer.groups};
  const float scale = 4.0f / static_cast<float>(most);
  OpCase op_case("Conv2D");
  op_case
      .Input(wide ? Value::Shorts(input, image)
                  : Value::Bytes(DataType::kUint8, input, image))
      .Quantized({{scale}, {zero}, 0})
      .Constant(Value::Bytes(DataType::kInt8, filter,
                             random->Ints(filter, -127, 127).ints()))
      .Quantized({{0.001f}, {}, 0})
      .QuantizedOutput(wide ? DataType::kInt16 : DataType::kUint8, 4 * scale,
                       zero)
      .OnCpuOnly();
  return op_case;
}

const bool registered = [] {
  for (const Layer &layer : kLayers) {
    const Shape input{1, layer.size, layer.size, layer.channels};
    const std::string details =
        MakeString("K", layer.kernel_h, "x", layer.kernel_w, "S", layer.stride,
                   "D", layer.dilation, "_SAME_", layer.filters,
                   layer.winograd == 0 ? "" : MakeString("_W", layer.winograd),
                   layer.groups == 1 ? "" : MakeString("_G", layer.groups));
    benchmark::RegisterOp(
        benchmark::OpName("CONV_2D", input, details, layer.type),
        [layer, input](Random *random) {
          if (layer.type[0] == 'q') {
            return Quantized(layer, input, random)
                .Ints("strides", {layer.stride, layer.stride})
                .String("padding", "SAME");
          }
          OpCase op_case("Conv2D");
          if (std::string(layer.type) == "uint8") {
            op_case = QuantizedCase(layer, input, random);
          } else {
            op_case.Input(random->Floats(input));
            const Value filter =
                random->Floats({layer.filters, layer.kernel_h, layer.kernel_w,
                                layer.channels / layer.groups});
            benchmark::AddWeights(layer.type, filter, layer.groups, &op_case);
            op_case.Constant(random->Floats({layer.filters}));
          }
          return op_case.Ints("strides", {layer.stride, layer.stride})
              .Ints("dilations", {layer.dilation, layer.dilation})
              .String("padding", "SAME")
              .Int("groups", layer.groups)
              .Winograd(layer.winograd)
              .String("activation", "RELU");
        });
  }
  return true;
}();

}  // namespace
}  // namespace mace
