// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <vector>

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpName;
using benchmark::RegisterOp;
using op_test::OpCase;
using op_test::Random;

const bool kRegistered = [] {
  const Shape shape = {1, 224, 224, 3};
  RegisterOp(OpName("CAST", shape, "TO_INT32"), [=](Random *random) {
    return OpCase("Cast").Input(random->Floats(shape)).String("to", "INT32");
  });
  RegisterOp(OpName("CAST", shape, "TO_FLOAT32", "int32"), [=](Random *random) {
    return OpCase("Cast")
        .Input(random->Ints(shape, 0, 255))
        .String("to", "FLOAT32");
  });
  RegisterOp(OpName("CAST", shape, "TO_FLOAT32", "uint8"), [=](Random *random) {
    std::vector<uint8_t> pixels;
    for (int64_t i = 0; i < shape.Elements(); ++i) {
      pixels.push_back(static_cast<uint8_t>(random->Int(0, 255)));
    }
    return OpCase("Cast")
        .Input(op_test::Value::Of(DataType::kUint8, shape, pixels))
        .String("to", "FLOAT32");
  });
  return true;
}();

}  // namespace
}  // namespace mace
