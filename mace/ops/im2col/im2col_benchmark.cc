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
  for (const Shape &shape : {Shape({1, 32, 32, 16}), Shape({1, 56, 56, 64})}) {
    RegisterOp(OpName("IM2COL", shape, "3x3"), [=](Random *random) {
      return OpCase("Im2Col")
          .Input(random->Floats(shape))
          .Ints("kernels", {3, 3})
          .String("padding", "SAME");
    });
  }
  return true;
}();

}  // namespace
}  // namespace mace
