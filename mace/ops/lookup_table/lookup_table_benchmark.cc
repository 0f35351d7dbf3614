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
using op_test::Value;

Value Bytes(Random *random, const Shape &shape) {
  return Value::Bytes(DataType::kUint8, shape,
                      random->Ints(shape, 0, 255).ints());
}

const bool kRegistered = [] {
  for (const Shape &shape : {Shape{1, 112, 112, 64}, Shape{1, 7, 7, 960}}) {
    for (const bool each : {false, true}) {
      RegisterOp(OpName("LOOKUP_TABLE", shape, each ? "CHANNELS" : "", "uint8"),
                 [=](Random *random) {
                   return OpCase("LookupTable")
                       .Input(Bytes(random, shape))
                       .Constant(Bytes(random, each ? Shape{shape.back(), 256}
                                                    : Shape{256}));
                 });
    }
  }
  return true;
}();

}  // namespace
}  // namespace mace
