// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpName;
using benchmark::RegisterOp;
using op_test::OpCase;
using op_test::Random;

// The copy that Identity, Reshape, Squeeze and ExpandDims make when they
// cannot share memory.
const bool kRegistered = [] {
  const Shape shape = {1, 56, 56, 256};
  RegisterOp(OpName("IDENTITY", shape, ""), [=](Random *random) {
    return OpCase("Identity").Input(random->Floats(shape));
  });
  return true;
}();

}  // namespace
}  // namespace mace
