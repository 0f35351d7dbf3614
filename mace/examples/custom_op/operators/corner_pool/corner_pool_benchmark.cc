// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;

// The feature map of CornerNet, and a small one.
const OpBenchmarks top("CORNER_POOL",
                       "TOP",
                       {{1, 128, 128, 128}, {1, 32, 32, 32}},
                       [](Random *random, const Shape &shape) {
                         return OpCase("CornerPool")
                             .Input(random->Floats(shape))
                             .Int("axis", 1)
                             .Int("reverse", 1);
                       });

}  // namespace
}  // namespace mace
