// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;

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
