// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "mace/core/base/status.h"
#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using op_test::OpCase;
using op_test::Random;
using op_test::Value;

// Transposed convolutions of image generators, segmentation and key points.

struct Deconv2dLayer {
  int64_t size;  // height and width
  int64_t channels;
  int64_t kernel;
  int64_t stride;
  int64_t pad;
  int64_t filters;
  const char *type = "float";
};

constexpr Deconv2dLayer kDeconv2dLayers[] = {
    // DCGAN
    {4, 512, 4, 2, 1, 256},
    {8, 256, 4, 2, 1, 128},
    {32, 64, 4, 2, 1, 3},
    // Key points on ResNet-50
    {8, 2048, 4, 2, 1, 256},
    {32, 256, 4, 2, 1, 256},
    // U-Net
    {28, 512, 2, 2, 0, 256},
    {112, 128, 2, 2, 0, 64},
    // Style transfer, with an output padding of 1 in its original
    {56, 128, 3, 2, 1, 64},
    // Segmentation: 21 classes
    {34, 21, 4, 2, 1, 21},
    {16, 21, 32, 16, 8, 21},
    // Weights in 16 and 8 bits
    {8, 2048, 4, 2, 1, 256, "half"},
    {8, 2048, 4, 2, 1, 256, "int8"},
};

const bool deconv2d_registered = [] {
  for (const Deconv2dLayer &layer : kDeconv2dLayers) {
    const Shape input{1, layer.size, layer.size, layer.channels};
    const std::string details =
        MakeString("K", layer.kernel, "x", layer.kernel, "S", layer.stride, "P",
                   layer.pad, "_", layer.filters);
    benchmark::RegisterOp(
        benchmark::OpName("DECONV_2D", input, details, layer.type),
        [layer, input](Random *random) {
          OpCase op_case("Deconv2D");
          op_case.Input(random->Floats(input));
          const Value filter = random->Floats(
              {layer.filters, layer.kernel, layer.kernel, layer.channels});
          benchmark::AddWeights(layer.type, filter, 1, &op_case);
          return op_case.Constant(random->Floats({layer.filters}))
              .Ints("strides", {layer.stride, layer.stride})
              .Ints("pads", {layer.pad, layer.pad, layer.pad, layer.pad})
              .String("activation", "RELU");
        });
  }
  return true;
}();

// Upsampling of each channel with a learned filter.

struct DepthwiseDeconv2dLayer {
  int64_t size;  // height and width
  int64_t channels;
  int64_t kernel;
  int64_t stride;
  int64_t pad;
};

constexpr DepthwiseDeconv2dLayer kDepthwiseDeconv2dLayers[] = {
    {14, 256, 4, 2, 1}, {28, 128, 4, 2, 1}, {56, 64, 3, 2, 1},
    {64, 21, 4, 2, 1},  {16, 21, 16, 8, 4},
};

const bool depthwise_deconv2d_registered = [] {
  for (const DepthwiseDeconv2dLayer &layer : kDepthwiseDeconv2dLayers) {
    const Shape input{1, layer.size, layer.size, layer.channels};
    const std::string details =
        MakeString("K", layer.kernel, "x", layer.kernel, "S", layer.stride, "P",
                   layer.pad, "_1");
    benchmark::RegisterOp(
        benchmark::OpName("DEPTHWISE_DECONV2D", input, details),
        [layer, input](Random *random) {
          OpCase op_case("DepthwiseDeconv2d");
          op_case.Input(random->Floats(input))
              .Constant(random->Floats(
                  {layer.kernel, layer.kernel, layer.channels, 1}));
          return op_case.Constant(random->Floats({layer.channels}))
              .Ints("strides", {layer.stride, layer.stride})
              .Ints("pads", {layer.pad, layer.pad, layer.pad, layer.pad});
        });
  }
  return true;
}();

}  // namespace
}  // namespace mace
