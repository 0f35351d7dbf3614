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
  for (const Shape &shape : {Shape{1, 1001}, Shape{1, 512, 512, 2},
                             Shape{1, 56, 56, 21}, Shape{12, 128, 128}}) {
    RegisterOp(OpName("SOFTMAX", shape, ""), [=](Random *random) {
      return OpCase("Softmax").Input(random->Floats(shape, -5, 5));
    });
    RegisterOp(OpName("SOFTMAX", shape, "", "uint8"), [=](Random *random) {
      return OpCase("Softmax")
          .Input(random->Bytes(shape))
          .Quantized({{0.05f}, {128}, 0})
          .QuantizedOutput(DataType::kUint8, 1.0f / 256, 0);
    });
  }
  const Shape shape = {1, 21, 3136};
  RegisterOp(OpName("SOFTMAX", shape, "AXIS1"), [=](Random *random) {
    return OpCase("Softmax").Input(random->Floats(shape, -5, 5)).Int("axis", 1);
  });
  return true;
}();

}  // namespace
}  // namespace mace
