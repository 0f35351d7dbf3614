// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;

// Rows of a cache, single elements added to a grid, elements along an axis.
const OpBenchmarks rows("SCATTER",
                        "ROWS",
                        {{900, 256}},
                        [](Random *random, const Shape &shape) {
                          return OpCase("Scatter")
                              .Input(random->Floats(shape))
                              .Input(random->Ints({300, 1}, 0, 899))
                              .Input(random->Floats({300, 256}));
                        });
const OpBenchmarks add("SCATTER",
                       "ADD",
                       {{300, 900}},
                       [](Random *random, const Shape &shape) {
                         return OpCase("Scatter")
                             .Input(random->Floats(shape))
                             .Input(random->Ints({90000, 2}, 0, 299))
                             .Input(random->Floats({90000}))
                             .String("mode", "ADD");
                       });
const OpBenchmarks elements("SCATTER",
                            "ELEMENTS",
                            {{300, 900}},
                            [](Random *random, const Shape &shape) {
                              return OpCase("Scatter")
                                  .Input(random->Floats(shape))
                                  .Input(random->Ints({300, 300}, 0, 899))
                                  .Input(random->Floats({300, 300}))
                                  .String("form", "ELEMENTS")
                                  .Int("axis", 1);
                            });

}  // namespace
}  // namespace mace
