// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;

const OpBenchmarks benchmarks("GATHER",
                              "512",
                              {{30000, 128}},
                              [](Random *random, const Shape &shape) {
                                return OpCase("Gather")
                                    .Constant(random->Floats(shape))
                                    .Input(random->Ints({512}, 0, 29999));
                              });

}  // namespace
}  // namespace mace
