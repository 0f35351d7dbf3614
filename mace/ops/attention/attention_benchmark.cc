// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;

OpCase CaseOf(Random *random, const Shape &shape) {
  return OpCase("Attention")
      .Input(random->Floats(shape))
      .Input(random->Floats(shape))
      .Input(random->Floats(shape))
      .Float("scale", 0.125f);
}

// Layers of BERT and of a decoder that reads its prompt.
const OpBenchmarks heads("ATTENTION",
                         "HEADS",
                         {{1, 12, 128, 64}, {1, 12, 512, 64}},
                         CaseOf);
const OpBenchmarks tokens("ATTENTION",
                          "TOKENS",
                          {{1, 128, 12, 64}, {1, 512, 12, 64}},
                          [](Random *random, const Shape &shape) {
                            return CaseOf(random, shape).Int("tokens_first", 1);
                          });
const OpBenchmarks causal(
    "ATTENTION",
    "CAUSAL",
    {{1, 12, 512, 64}},
    [](Random *random, const Shape &shape) {
      return CaseOf(random, shape).String("causal", "TOP_LEFT");
    });

}  // namespace
}  // namespace mace
