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
  const Shape shape = {30000, 128};
  RegisterOp(OpName("GATHER", shape, "512"), [=](Random *random) {
    return OpCase("Gather")
        .Constant(random->Floats(shape))
        .Input(random->Ints({512}, 0, 29999));
  });
  return true;
}();

}  // namespace
}  // namespace mace
