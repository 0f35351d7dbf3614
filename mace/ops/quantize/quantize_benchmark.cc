// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "mace/core/base/status.h"
#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpName;
using benchmark::RegisterOp;
using op_test::OpCase;
using op_test::Random;

const bool kRegistered = [] {
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

}  // namespace
}  // namespace mace
