// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;

OpCase CaseOf(Random *random, const Shape &shape, int64_t k) {
  return OpCase("TopK", 2).Input(random->Floats(shape)).Int("k", k);
}

// Classes, the tokens of a language model, the boxes of a detector.
const OpBenchmarks classes("TOP_K",
                           "K5",
                           {{1, 1000}, {1, 32000}},
                           [](Random *random, const Shape &shape) {
                             return CaseOf(random, shape, 5);
                           });
const OpBenchmarks boxes("TOP_K",
                         "K1000",
                         {{1, 80000}},
                         [](Random *random, const Shape &shape) {
                           return CaseOf(random, shape, 1000);
                         });

}  // namespace
}  // namespace mace
