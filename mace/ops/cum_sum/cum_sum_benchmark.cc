// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;

OpCase CaseOf(Random *random, const Shape &shape, int64_t axis) {
  return OpCase("CumSum").Input(random->Floats(shape)).Int("axis", axis);
}

// Sums of probabilities, for top-p sampling.
const OpBenchmarks rows("CUM_SUM",
                        "LAST",
                        {{1, 32000}, {64, 1024}},
                        [](Random *random, const Shape &shape) {
                          return CaseOf(random, shape, -1);
                        });

// Positions of a mask along the height of a feature map.
const OpBenchmarks columns("CUM_SUM",
                           "HEIGHT",
                           {{1, 56, 56, 64}},
                           [](Random *random, const Shape &shape) {
                             return CaseOf(random, shape, 1);
                           });

}  // namespace
}  // namespace mace
