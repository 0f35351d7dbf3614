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
  const Shape shape = {1, 56, 56, 64};
  for (const char *mode : {"CONSTANT", "REFLECT"}) {
    RegisterOp(OpName("PAD", shape, mode), [=](Random *random) {
      return OpCase("Pad")
          .Input(random->Floats(shape))
          .Ints("pads", {0, 0, 1, 1, 1, 1, 0, 0})
          .String("mode", mode);
    });
  }
  return true;
}();

}  // namespace
}  // namespace mace
