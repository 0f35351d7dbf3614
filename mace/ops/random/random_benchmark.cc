// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;

OpCase CaseOf(Random *random, const Shape &shape, const char *distribution) {
  return OpCase("Random")
      .Input(random->Floats(shape))
      .String("distribution", distribution);
}

// The noise of a generator of images, and a mask of dropout.
const OpBenchmarks normal("RANDOM",
                          "NORMAL",
                          {{1, 64, 64, 4}},
                          [](Random *random, const Shape &shape) {
                            return CaseOf(random, shape, "NORMAL");
                          });
const OpBenchmarks uniform("RANDOM",
                           "UNIFORM",
                           {{1, 64, 64, 4}},
                           [](Random *random, const Shape &shape) {
                             return CaseOf(random, shape, "UNIFORM");
                           });

}  // namespace
}  // namespace mace
