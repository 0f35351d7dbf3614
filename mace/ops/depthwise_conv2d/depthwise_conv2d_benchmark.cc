// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Depthwise convolutions of MobileNetV1 and V2.

#include <string>

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
};

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
