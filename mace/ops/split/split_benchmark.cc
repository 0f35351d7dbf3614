// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpName;
using benchmark::RegisterOp;
using op_test::OpCase;
using op_test::Random;

const bool kRegistered = [] {
  for (const Shape &shape : {Shape{1, 56, 56, 256}, Shape{1, 28, 28, 116}}) {
    RegisterOp(OpName("SPLIT", shape, "X2_AXIS3"), [=](Random *random) {
      return OpCase("Split", 2).Input(random->Floats(shape)).Int("axis", 3);
    });
  }
  return true;
}();

}  // namespace
}  // namespace mace
