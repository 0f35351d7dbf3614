// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;

const OpBenchmarks benchmarks("EXPAND_DIMS",
                              "AXIS_2",
                              {{1, 128, 768}},
                              [](Random *random, const Shape &shape) {
                                return OpCase("ExpandDims")
                                    .Input(random->Floats(shape))
                                    .Ints("axes", {2});
                              });

}  // namespace
}  // namespace mace
