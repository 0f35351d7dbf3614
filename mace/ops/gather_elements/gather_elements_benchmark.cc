// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;

// The last axis, and one before it.
const OpBenchmarks last("GATHER_ELEMENTS",
                        "LAST",
                        {{300, 900}},
                        [](Random *random, const Shape &shape) {
                          return OpCase("GatherElements")
                              .Input(random->Floats(shape))
                              .Input(random->Ints({300, 300}, 0, 899))
                              .Int("axis", 1);
                        });
const OpBenchmarks first("GATHER_ELEMENTS",
                         "FIRST",
                         {{900, 256}},
                         [](Random *random, const Shape &shape) {
                           return OpCase("GatherElements")
                               .Input(random->Floats(shape))
                               .Input(random->Ints({300, 256}, 0, 899));
                         });

}  // namespace
}  // namespace mace
