// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

const OpBenchmarks benchmarks(
    "SHAPE", "", {{1, 224, 224, 3}}, [](Random *random, const Shape &shape) {
      return OpCase("Shape").Input(random->Floats(shape));
    });

// int(0.35 * n)
const OpBenchmarks share(
    "SIZE_EXPRESSION", "", {{1}}, [](Random * /*random*/, const Shape &shape) {
      return OpCase("SizeExpression")
          .Input(Value::Ints(shape, {180}))
          .String("expression", "$0 6305039478318694p-54 mul trunc")
          .Int("whole", 1);
    });

// The positions of a sequence.
const OpBenchmarks positions(
    "RANGE", "", {{4096}}, [](Random * /*random*/, const Shape &shape) {
      return OpCase("Range")
          .Known(Value::Ints({}, {0}))
          .Known(Value::Ints({}, {static_cast<int32_t>(shape[0])}))
          .Known(Value::Ints({}, {1}));
    });

}  // namespace
}  // namespace mace
