// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;

// The bits of quantized weights.
const OpBenchmarks both("BITWISE",
                        "AND",
                        {{256, 1024}},
                        [](Random *random, const Shape &shape) {
                          return OpCase("Bitwise")
                              .Input(random->Ints(shape, 0, 255))
                              .Input(random->Ints({}, 0, 255))
                              .String("mode", "AND");
                        });
const OpBenchmarks shift("BITWISE",
                         "SHIFT",
                         {{256, 1024}},
                         [](Random *random, const Shape &shape) {
                           return OpCase("Bitwise")
                               .Input(random->Ints(shape, 0, 255))
                               .Input(random->Ints(shape, 0, 7))
                               .String("mode", "SHIFT_RIGHT");
                         });

}  // namespace
}  // namespace mace
