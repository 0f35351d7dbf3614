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
  for (const Shape &shape : {Shape{1, 128, 128, 64}, Shape{1, 7, 7, 2048}}) {
    RegisterOp(OpName("INSTANCE_NORM", shape, ""), [=](Random *random) {
      return OpCase("InstanceNorm")
          .Input(random->Floats(shape))
          .Constant(random->Floats({shape.back()}))
          .Constant(random->Floats({shape.back()}));
    });
  }
  return true;
}();

}  // namespace
}  // namespace mace
