// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;

// A mask of an image, and the tokens of a sequence.
const OpBenchmarks masks(
    "NON_ZERO",
    "HALF",
    {{1, 224, 224}, {8, 512}},
    [](Random *random, const Shape &shape) {
      return OpCase("NonZero", 2).Input(random->Ints(shape, 0, 1));
    });

}  // namespace
}  // namespace mace
