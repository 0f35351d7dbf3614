// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Depthwise convolutions of MobileNetV1 and V2.

#include "mace/core/status.h"
#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using op_test::OpCase;
using op_test::Random;

struct Layer {
  int64_t size;  // height and width
  int64_t channels;
  int64_t kernel;
  int64_t stride;
};

constexpr Layer kLayers[] = {
    {112, 32, 3, 1}, {112, 96, 3, 2}, {56, 144, 3, 1}, {56, 144, 3, 2},
    {28, 192, 3, 1}, {28, 192, 3, 2}, {14, 384, 3, 1}, {14, 512, 3, 1},
    {14, 576, 3, 2}, {7, 960, 3, 1},  {7, 1024, 3, 1}, {14, 480, 5, 1},
};

const bool registered = [] {
  for (const Layer &layer : kLayers) {
    const Shape input{1, layer.size, layer.size, layer.channels};
    benchmark::RegisterOp(
        benchmark::OpName("DEPTHWISE_CONV_2D", input,
                          MakeString("K", layer.kernel, "x", layer.kernel, "S",
                                     layer.stride, "D1_SAME_1")),
        [layer, input](Random *random) {
          return OpCase("DepthwiseConv2d")
              .Input(random->Floats(input))
              .Constant(random->Floats(
                  {layer.kernel, layer.kernel, layer.channels, 1}))
              .Constant(random->Floats({layer.channels}))
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
