// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpName;
using benchmark::RegisterOp;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

const bool kQuantizeRegistered = [] {
  for (int64_t scales : {1, 64}) {
    const Shape shape = {1, 56, 56, 64};
    RegisterOp(
        OpName("QUANTIZE", shape, MakeString("TO_UINT8_", scales), "float"),
        [=](Random *random) {
          return OpCase("Quantize")
              .Input(random->Floats(shape))
              .Constant(random->Floats({scales}, 0.01f, 0.02f))
              .String("to", "UINT8")
              .Int("axis", 3);
        });
  }
  return true;
}();

const bool kDequantizeRegistered = [] {
  for (int64_t scales : {1, 64}) {
    const Shape shape = {1, 56, 56, 64};
    RegisterOp(OpName("DEQUANTIZE", shape, MakeString("BY_", scales), "uint8"),
               [=](Random *random) {
                 std::vector<uint8_t> bytes;
                 for (int64_t i = 0; i < shape.Elements(); ++i) {
                   bytes.push_back(static_cast<uint8_t>(random->Int(0, 255)));
                 }
                 return OpCase("Dequantize")
                     .Input(Value::Of(DataType::kUint8, shape, bytes))
                     .Constant(random->Floats({scales}, 0.01f, 0.02f))
                     .Int("axis", 3);
               });
  }
  return true;
}();

const bool kLookupTableRegistered = [] {
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
