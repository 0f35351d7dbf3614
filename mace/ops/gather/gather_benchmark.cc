// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

const OpBenchmarks gather("GATHER",
                          "512",
                          {{30000, 128}},
                          [](Random *random, const Shape &shape) {
                            return OpCase("Gather")
                                .Constant(random->Floats(shape))
                                .Input(random->Ints({512}, 0, 29999));
                          });

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

// Single gather_nd_elements, and gather_nd_rows.
const OpBenchmarks gather_nd_elements("GATHER_ND",
                                      "ELEMENTS",
                                      {{300, 900}},
                                      [](Random *random, const Shape &shape) {
                                        return OpCase("GatherNd")
                                            .Input(random->Floats(shape))
                                            .Input(random->Ints({90000, 2}, 0,
                                                                299));
                                      });
const OpBenchmarks gather_nd_rows("GATHER_ND",
                                  "ROWS",
                                  {{900, 256}},
                                  [](Random *random, const Shape &shape) {
                                    return OpCase("GatherNd")
                                        .Input(random->Floats(shape))
                                        .Input(random->Ints({300, 1}, 0, 899));
                                  });

// Rows of a cache, single scatter_elements added to a grid, scatter_elements
// along an axis.
const OpBenchmarks scatter_rows("SCATTER",
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
const OpBenchmarks scatter_elements("SCATTER",
                                    "ELEMENTS",
                                    {{300, 900}},
                                    [](Random *random, const Shape &shape) {
                                      return OpCase("Scatter")
                                          .Input(random->Floats(shape))
                                          .Input(
                                              random->Ints({300, 300}, 0, 899))
                                          .Input(random->Floats({300, 300}))
                                          .String("form", "ELEMENTS")
                                          .Int("axis", 1);
                                    });

const OpBenchmarks one_hot("ONE_HOT",
                           "1000",
                           {{1, 128}},
                           [](Random *random, const Shape &tokens) {
                             return OpCase("OneHot")
                                 .Input(random->Ints(tokens, 0, 999))
                                 .Constant(Value::Floats({2}, {0, 1}))
                                 .Int("depth", 1000);
                           });

}  // namespace
}  // namespace mace
