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
  const Shape shape = {1, 224, 224, 3};
  RegisterOp(OpName("SHAPE", shape, ""), [=](Random *random) {
    return OpCase("Shape").Input(random->Floats(shape));
  });
  return true;
}();

}  // namespace
}  // namespace mace
