// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;

const OpBenchmarks benchmarks(
    "SHAPE", "", {{1, 224, 224, 3}}, [](Random *random, const Shape &shape) {
      return OpCase("Shape").Input(random->Floats(shape));
    });

}  // namespace
}  // namespace mace
