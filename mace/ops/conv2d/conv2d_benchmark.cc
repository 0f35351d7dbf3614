// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Convolutions of ResNet-50, MobileNetV2 and InceptionV3.

#include <string>

#include "mace/core/status.h"
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
  DataType type = DataType::kFloat32;
  int winograd = 0;  // the deployment's hint
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
    {14, 256, 3, 3, 1, 256, DataType::kFloat16},
    {7, 960, 1, 1, 1, 160, DataType::kFloat16},
    {14, 256, 3, 3, 1, 256, DataType::kBfloat16},
    {14, 256, 3, 3, 1, 256, DataType::kInt8},
    {7, 960, 1, 1, 1, 160, DataType::kInt8},
    {7, 512, 1, 1, 1, 2048, DataType::kInt8},
    // Winograd, beside the same layers above
    {56, 64, 3, 3, 1, 64, DataType::kFloat32, 2},
    {56, 64, 3, 3, 1, 64, DataType::kFloat32, 4},
    {28, 128, 3, 3, 1, 128, DataType::kFloat32, 2},
    {28, 128, 3, 3, 1, 128, DataType::kFloat32, 4},
    {14, 256, 3, 3, 1, 256, DataType::kFloat32, 2},
    {14, 256, 3, 3, 1, 256, DataType::kFloat32, 4},
    {7, 512, 3, 3, 1, 512, DataType::kFloat32, 2},
    {7, 512, 3, 3, 1, 512, DataType::kFloat32, 4},
};

const char *TypeName(DataType type) {
  switch (type) {
    case DataType::kFloat16:
      return "half";
    case DataType::kBfloat16:
      return "bfloat16";
    case DataType::kInt8:
      return "int8";
    default:
      return "float";
  }
}

const bool registered = [] {
  for (const Layer &layer : kLayers) {
    const Shape input{1, layer.size, layer.size, layer.channels};
    const std::string details =
        MakeString("K", layer.kernel_h, "x", layer.kernel_w, "S", layer.stride,
                   "D1_SAME_", layer.filters,
                   layer.winograd == 0 ? "" : MakeString("_W", layer.winograd));
    benchmark::RegisterOp(
        benchmark::OpName("CONV_2D", input, details, TypeName(layer.type)),
        [layer, input](Random *random) {
          OpCase op_case("Conv2D");
          op_case.Input(random->Floats(input));
          const Value filter = random->Floats(
              {layer.filters, layer.kernel_h, layer.kernel_w, layer.channels});
          if (layer.type == DataType::kInt8) {
            op_case.PackedScaled(filter);
          } else {
            op_case.Packed(filter, 1, layer.type);
          }
          return op_case.Constant(random->Floats({layer.filters}))
              .Ints("strides", {layer.stride, layer.stride})
              .String("padding", "SAME")
              .Winograd(layer.winograd)
              .String("activation", "RELU");
        });
  }
  return true;
}();

}  // namespace
}  // namespace mace
