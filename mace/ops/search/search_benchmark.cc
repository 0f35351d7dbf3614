// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using benchmark::OpName;
using benchmark::RegisterOp;
using op_test::OpCase;
using op_test::Random;

const bool kRegistered = [] {
  // Classes of the pixels of an image, and of a whole image.
  for (const Shape &shape : {Shape{1, 257, 257, 21}, Shape{1, 1, 1, 1000}}) {
    for (const int64_t axis : {1, 3}) {
      RegisterOp(OpName("ARG_MAX", shape, "AXIS" + std::to_string(axis)),
                 [=](Random *random) {
                   return OpCase("ArgMax")
                       .Input(random->Floats(shape))
                       .Int("axis", axis);
                 });
    }
  }
  return true;
}();

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

// Identifiers, and points of a cloud on a grid.
const OpBenchmarks rows(
    "UNIQUE",
    "SORTED",
    {{4096}, {4096, 3}},
    [](Random *random, const Shape &shape) {
      return OpCase("Unique", 5).Input(random->Ints(shape, 0, 30));
    });

// A mask of an image, and the tokens of a sequence.
const OpBenchmarks masks(
    "NON_ZERO",
    "HALF",
    {{1, 224, 224}, {8, 512}},
    [](Random *random, const Shape &shape) {
      return OpCase("NonZero", 2).Input(random->Ints(shape, 0, 1));
    });

}  // namespace
}  // namespace mace
