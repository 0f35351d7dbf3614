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
  for (const Shape &shape : {Shape{1, 55, 55, 96}, Shape{1, 27, 27, 256}}) {
    RegisterOp(OpName("LOCAL_RESPONSE_NORMALIZATION", shape, "W5"),
               [=](Random *random) {
                 return OpCase("LocalResponseNorm")
                     .Input(random->Floats(shape))
                     .Int("before", 2)
                     .Int("after", 2)
                     .Float("alpha", 2e-5f)
                     .Float("beta", 0.75f);
               });
  }
  return true;
}();

}  // namespace
}  // namespace mace
