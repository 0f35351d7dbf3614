// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;

// Many small matrices, and a large one.
const OpBenchmarks matrices(
    "DETERMINANT",
    "MATRICES",
    {{4096, 3, 3}, {1, 128, 128}},
    [](Random *random, const Shape &shape) {
      return OpCase("Determinant").Input(random->Floats(shape));
    });

}  // namespace
}  // namespace mace
