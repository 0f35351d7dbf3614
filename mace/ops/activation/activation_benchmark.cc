// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using benchmark::OpName;
using benchmark::RegisterOp;
using op_test::OpCase;
using op_test::Random;

const bool kRegistered = [] {
  for (const char *kind :
       {"RELU", "RELUX", "LEAKY_RELU", "SIGMOID", "TANH", "ELU", "HARD_SWISH",
        "SWISH", "GELU", "GELU_TANH", "SOFTPLUS", "SOFTSIGN"}) {
    for (const Shape &shape : {Shape{1, 112, 112, 32}, Shape{1, 14, 14, 512}}) {
      RegisterOp(OpName(kind, shape, ""), [=](Random *random) {
        return OpCase("Activation")
            .Input(random->Floats(shape, -6, 6))
            .String("activation", kind)
            .Float("activation_limit", 6)
            .Float("activation_alpha", 0.1f);
      });
    }
  }
  const Shape shape = {1, 112, 112, 32};
  RegisterOp(OpName("PRELU", shape, ""), [=](Random *random) {
    return OpCase("Activation")
        .Input(random->Floats(shape))
        .Constant(random->Floats({shape.back()}))
        .String("activation", "PRELU");
  });
  return true;
}();

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
