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
  const Shape shape = {1, 128, 768};
  RegisterOp(OpName("EXPAND_DIMS", shape, "AXIS_2"), [=](Random *random) {
    return OpCase("ExpandDims").Input(random->Floats(shape)).Ints("axes", {2});
  });
  return true;
}();

}  // namespace
}  // namespace mace
