// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

// The rows of a detector's results.
const OpBenchmarks rows("TRIM",
                        "ROWS",
                        {{1000, 6}, {8400, 85}},
                        [](Random *random, const Shape &shape) {
                          return OpCase("Trim")
                              .Input(random->Floats(shape))
                              .Input(Value::Ints({1}, {100}))
                              .Int("axis", 0);
                        });

}  // namespace
}  // namespace mace
