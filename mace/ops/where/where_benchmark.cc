// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

const OpBenchmarks benchmarks("WHERE",
                              "MASK_1_128_128",
                              {{12, 128, 128}},
                              [](Random *random, const Shape &scores) {
                                // A causal attention mask.
                                std::vector<uint8_t> mask;
                                for (int i = 0; i < 128 * 128; ++i)
                                  mask.push_back(i / 128 >= i % 128);
                                return OpCase("Where")
                                    .Input(Value::Bools({1, 128, 128}, mask))
                                    .Input(random->Floats(scores))
                                    .Constant(Value::Floats({}, {-1e9f}));
                              });

}  // namespace
}  // namespace mace
