// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;

const OpBenchmarks benchmarks("LOCAL_RESPONSE_NORMALIZATION",
                              "W5",
                              {{1, 55, 55, 96}, {1, 27, 27, 256}},
                              [](Random *random, const Shape &shape) {
                                return OpCase("LocalResponseNorm")
                                    .Input(random->Floats(shape))
                                    .Int("before", 2)
                                    .Int("after", 2)
                                    .Float("alpha", 2e-5f)
                                    .Float("beta", 0.75f);
                              });

}  // namespace
}  // namespace mace
