// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpName;
using benchmark::RegisterOp;
using op_test::OpCase;
using op_test::Random;

const bool kRegistered = [] {
  for (const Shape &shape : {Shape{1, 112, 112, 64}, Shape{1, 7, 7, 960}}) {
    for (const bool each : {false, true}) {
      RegisterOp(OpName("LOOKUP_TABLE", shape, each ? "CHANNELS" : "", "uint8"),
                 [=](Random *random) {
                   return OpCase("LookupTable")
                       .Input(random->Bytes(shape))
                       .Constant(random->Bytes(each ? Shape{shape.back(), 256}
                                                    : Shape{256}));
                 });
    }
  }
  return true;
}();

}  // namespace
}  // namespace mace
