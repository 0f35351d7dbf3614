// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;

// Single elements, and rows.
const OpBenchmarks elements("GATHER_ND",
                            "ELEMENTS",
                            {{300, 900}},
                            [](Random *random, const Shape &shape) {
                              return OpCase("GatherNd")
                                  .Input(random->Floats(shape))
                                  .Input(random->Ints({90000, 2}, 0, 299));
                            });
const OpBenchmarks rows("GATHER_ND",
                        "ROWS",
                        {{900, 256}},
                        [](Random *random, const Shape &shape) {
                          return OpCase("GatherNd")
                              .Input(random->Floats(shape))
                              .Input(random->Ints({300, 1}, 0, 899));
                        });

}  // namespace
}  // namespace mace
