// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpName;
using benchmark::RegisterOp;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

// Convolutions of ResNet-50, MobileNetV2, InceptionV3 and DeepLabV3.

struct Conv2dLayer {
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

constexpr Conv2dLayer kConv2dLayers[] = {
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
    // Conv2dQuantized: activations of 8 and 16 bits, weights of 8
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
    // Conv2dQuantized; one channel in each group: depthwise
    {14, 256, 3, 3, 1, 256, "uint8"},
    {112, 32, 3, 3, 1, 32, "uint8", 0, 32},
    {112, 32, 3, 3, 1, 64, "uint8", 0, 32},
    {28, 192, 3, 3, 1, 384, "uint8", 0, 192},
};

OpCase QuantizedCase(const Conv2dLayer &layer,
                     const Shape &input,
                     Random *random) {
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

OpCase Conv2dQuantized(const Conv2dLayer &layer,
                       const Shape &input,
                       Random *random) {
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

const bool conv2d_registered = [] {
  for (const Conv2dLayer &layer : kConv2dLayers) {
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
            return Conv2dQuantized(layer, input, random)
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

// Depthwise convolutions of MobileNetV1 and V2.

struct DepthwiseConv2dLayer {
  int64_t size;  // height and width
  int64_t channels;
  int64_t kernel;
  int64_t stride;
  int64_t multiplier = 1;
  // "fp16": float16, if the processor supports it.
  const char *type = "float";
};

constexpr DepthwiseConv2dLayer kDepthwiseConv2dLayers[] = {
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
    // DepthwiseConv2dQuantized: activations of 8 and 16 bits, weights of 8
    {56, 144, 3, 1, 1, "q8"},
    {56, 144, 3, 1, 1, "q16"},
    {14, 480, 5, 1, 1, "q8"},
    {14, 480, 5, 1, 1, "q16"},
};

OpCase DepthwiseConv2dQuantized(const DepthwiseConv2dLayer &layer,
                                const Shape &input,
                                Random *random) {
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

const bool depthwise_conv2d_registered = [] {
  for (const DepthwiseConv2dLayer &layer : kDepthwiseConv2dLayers) {
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
            return DepthwiseConv2dQuantized(layer, input, random);
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

const bool kRegistered = [] {
  for (const Shape &shape : {Shape({1, 32, 32, 16}), Shape({1, 56, 56, 64})}) {
    RegisterOp(OpName("IM2COL", shape, "3x3"), [=](Random *random) {
      return OpCase("Im2Col")
          .Input(random->Floats(shape))
          .Ints("kernels", {3, 3})
          .String("padding", "SAME");
    });
  }
  return true;
}();

}  // namespace
}  // namespace mace
