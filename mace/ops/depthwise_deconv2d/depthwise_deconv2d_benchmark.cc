// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Upsampling of each channel with a learned filter.

#include <string>

#include "mace/core/base/status.h"
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
  int64_t pad;
};

constexpr Layer kLayers[] = {
    {14, 256, 4, 2, 1}, {28, 128, 4, 2, 1}, {56, 64, 3, 2, 1},
    {64, 21, 4, 2, 1},  {16, 21, 16, 8, 4},
};

const bool registered = [] {
  for (const Layer &layer : kLayers) {
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
