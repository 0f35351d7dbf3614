// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;

// The transparency along rays, and a running maximum.
const OpBenchmarks products("CUMULATE_PROD",
                            "LAST",
                            {{1024, 128}, {128, 1024}},
                            [](Random *random, const Shape &shape) {
                              return OpCase("Cumulate")
                                  .Input(random->Floats(shape))
                                  .Int("axis", 1)
                                  .String("mode", "PROD");
                            });
const OpBenchmarks largest("CUMULATE_MAX",
                           "FIRST",
                           {{1024, 128}},
                           [](Random *random, const Shape &shape) {
                             return OpCase("Cumulate")
                                 .Input(random->Floats(shape))
                                 .Int("axis", 0)
                                 .String("mode", "MAX");
                           });

}  // namespace
}  // namespace mace
