// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;

const OpBenchmarks benchmarks("SQUEEZE",
                              "AXES_1_2",
                              {{1, 1, 1, 1024}},
                              [](Random *random, const Shape &shape) {
                                return OpCase("Squeeze")
                                    .Input(random->Floats(shape))
                                    .Ints("axes", {1, 2});
                              });

}  // namespace
}  // namespace mace
