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
  const Shape shape = {1, 1, 1, 1024};
  RegisterOp(OpName("SQUEEZE", shape, "AXES_1_2"), [=](Random *random) {
    return OpCase("Squeeze").Input(random->Floats(shape)).Ints("axes", {1, 2});
  });
  return true;
}();

}  // namespace
}  // namespace mace
