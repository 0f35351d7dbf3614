// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

const OpBenchmarks benchmarks("ONE_HOT",
                              "1000",
                              {{1, 128}},
                              [](Random *random, const Shape &tokens) {
                                return OpCase("OneHot")
                                    .Input(random->Ints(tokens, 0, 999))
                                    .Constant(Value::Floats({2}, {0, 1}))
                                    .Int("depth", 1000);
                              });

}  // namespace
}  // namespace mace
