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

const bool kConcatRegistered = [] {
  for (const Shape &shape : {Shape{1, 56, 56, 64}, Shape{1, 7, 7, 512}}) {
    for (const int64_t axis : {1, 3}) {
      const std::string details = "X4_AXIS" + std::to_string(axis);
      RegisterOp(OpName("CONCAT", shape, details), [=](Random *random) {
        OpCase op_case("Concat");
        for (int i = 0; i < 4; ++i) op_case.Input(random->Floats(shape));
        return op_case.Int("axis", axis);
      });
    }
  }
  return true;
}();

const OpBenchmarks benchmarks(
    "SPLIT",
    "X2_AXIS3",
    {{1, 56, 56, 256}, {1, 28, 28, 116}},
    [](Random *random, const Shape &shape) {
      return OpCase("Split", 2).Input(random->Floats(shape)).Int("axis", 3);
    });

const bool kStackRegistered = [] {
  const Shape shape = {56, 56, 64};
  for (const int64_t axis : {0, 3}) {
    const std::string details = "X4_AXIS" + std::to_string(axis);
    RegisterOp(OpName("STACK", shape, details), [=](Random *random) {
      OpCase op_case("Stack");
      for (int i = 0; i < 4; ++i) op_case.Input(random->Floats(shape));
      return op_case.Int("axis", axis);
    });
  }
  return true;
}();

}  // namespace
}  // namespace mace
