// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;

const OpBenchmarks benchmarks("BATCH_NORM",
                              "",
                              {{1, 112, 112, 64}, {1, 7, 7, 2048}},
                              [](Random *random, const Shape &shape) {
                                return OpCase("BatchNorm")
                                    .Input(random->Floats(shape))
                                    .Constant(random->Floats({shape.back()}))
                                    .Constant(random->Floats({shape.back()}));
                              });

}  // namespace
}  // namespace mace
