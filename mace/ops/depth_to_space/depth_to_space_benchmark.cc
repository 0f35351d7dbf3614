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
  const Shape shape = {1, 112, 112, 64};
  for (const char *order : {"DCR", "CRD"}) {
    RegisterOp(OpName("DEPTH_TO_SPACE", shape, order), [=](Random *random) {
      return OpCase("DepthToSpace")
          .Input(random->Floats(shape))
          .Int("block", 2)
          .String("order", order);
    });
  }
  return true;
}();

}  // namespace
}  // namespace mace
