// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;

OpCase CaseOf(Random *random, const Shape &shape, const char *mode) {
  return OpCase("Trigonometric")
      .Input(random->Floats(shape))
      .String("mode", mode);
}

const OpBenchmarks atan("TRIGONOMETRIC",
                        "ATAN",
                        {{1, 56, 56, 64}},
                        [](Random *random, const Shape &shape) {
                          return CaseOf(random, shape, "ATAN");
                        });
const OpBenchmarks asinh("TRIGONOMETRIC",
                         "ASINH",
                         {{1, 56, 56, 64}},
                         [](Random *random, const Shape &shape) {
                           return CaseOf(random, shape, "ASINH");
                         });

}  // namespace
}  // namespace mace
