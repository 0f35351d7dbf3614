// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;

const OpBenchmarks benchmarks("LOOP_BEGIN",
                              "",
                              {{1, 1, 1, 256}, {1, 64, 64, 32}},
                              [](Random *random, const Shape &shape) {
                                return OpCase("LoopBegin", 3)
                                    .NoInput()
                                    .NoInput()
                                    .Input(random->Floats(shape));
                              });

}  // namespace
}  // namespace mace
