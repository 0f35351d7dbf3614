// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;

// Identifiers, and points of a cloud on a grid.
const OpBenchmarks rows(
    "UNIQUE",
    "SORTED",
    {{4096}, {4096, 3}},
    [](Random *random, const Shape &shape) {
      return OpCase("Unique", 5).Input(random->Ints(shape, 0, 30));
    });

}  // namespace
}  // namespace mace
