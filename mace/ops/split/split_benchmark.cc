// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;

const OpBenchmarks benchmarks(
    "SPLIT",
    "X2_AXIS3",
    {{1, 56, 56, 256}, {1, 28, 28, 116}},
    [](Random *random, const Shape &shape) {
      return OpCase("Split", 2).Input(random->Floats(shape)).Int("axis", 3);
    });

}  // namespace
}  // namespace mace
