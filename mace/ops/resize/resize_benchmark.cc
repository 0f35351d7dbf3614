// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using benchmark::OpName;
using benchmark::RegisterOp;
using op_test::OpCase;
using op_test::Random;

struct Image {
  Shape shape;
  int64_t height;
  int64_t width;
};

const bool kRegistered = [] {
  // Feature maps of detectors and segmentation, a mask, a photo.
  const Image images[] = {{{1, 26, 26, 256}, 52, 52},
                          {{1, 33, 33, 256}, 129, 129},
                          {{1, 65, 65, 21}, 513, 513},
                          {{1, 160, 160, 1}, 640, 640},
                          {{1, 480, 640, 3}, 224, 224}};
  for (const Image &image : images) {
    for (const char *mode : {"NEAREST", "LINEAR", "CUBIC"}) {
      const std::string details = std::string(mode) + "_" +
                                  std::to_string(image.height) + "x" +
                                  std::to_string(image.width);
      RegisterOp(OpName("RESIZE", image.shape, details), [=](Random *random) {
        return OpCase("Resize")
            .Input(random->Floats(image.shape))
            .Ints("size", {image.height, image.width})
            .String("mode", mode);
      });
      if (mode == std::string("CUBIC")) continue;
      RegisterOp(OpName("RESIZE", image.shape, details, "uint8"),
                 [=](Random *random) {
                   return OpCase("Resize")
                       .Input(random->Bytes(image.shape))
                       .Quantized({{0.05f}, {128}, 0})
                       .Ints("size", {image.height, image.width})
                       .String("mode", mode)
                       .QuantizedOutput(DataType::kUint8, 0.05f, 128);
                 });
    }
  }
  return true;
}();

OpCase CaseOf(Random *random, const Shape &shape, const char *mode) {
  Shape grid = shape;
  grid[3] = 2;
  return OpCase("GridSample")
      .Input(random->Floats(shape))
      .Input(random->Floats(grid))
      .String("mode", mode);
}

// A warped photo, and the features of a decoder.
const OpBenchmarks linear("GRID_SAMPLE",
                          "LINEAR",
                          {{1, 256, 256, 3}, {1, 64, 64, 64}},
                          [](Random *random, const Shape &shape) {
                            return CaseOf(random, shape, "LINEAR");
                          });

const OpBenchmarks cubic("GRID_SAMPLE",
                         "CUBIC",
                         {{1, 128, 128, 3}},
                         [](Random *random, const Shape &shape) {
                           return CaseOf(random, shape, "CUBIC");
                         });

}  // namespace
}  // namespace mace
