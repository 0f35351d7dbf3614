// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using op_test::OpCase;
using op_test::Random;
using op_test::Value;

const bool registered = [] {
  const Shape tokens{1, 128};
  benchmark::RegisterOp(benchmark::OpName("ONE_HOT", tokens, "1000"),
                        [tokens](Random *random) {
                          return OpCase("OneHot")
                              .Input(random->Ints(tokens, 0, 999))
                              .Constant(Value::Floats({2}, {0, 1}))
                              .Int("depth", 1000);
                        });
  return true;
}();

}  // namespace
}  // namespace mace
