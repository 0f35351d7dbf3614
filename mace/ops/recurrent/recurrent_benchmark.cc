// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::AddWeights;
using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;

// shape: [T, B, H].
OpCase CaseOf(Random *random,
              const Shape &shape,
              const char *mode,
              int64_t gates) {
  const int64_t units = shape[2];
  OpCase op_case("Recurrent", gates == 4 ? 3 : 2);
  op_case.Input(random->Floats({shape[0], shape[1], gates * units}));
  AddWeights("float", random->Floats({gates * units, units}, -0.1f, 0.1f), 1,
             &op_case);
  return op_case.String("mode", mode);
}

const OpBenchmarks lstm(
    "RECURRENT",
    "LSTM",
    {{64, 1, 128}, {64, 1, 256}, {64, 1, 512}, {16, 1, 1024}, {64, 8, 256}},
    [](Random *random, const Shape &shape) {
      return CaseOf(random, shape, "LSTM", 4);
    });

const OpBenchmarks gru(
    "RECURRENT",
    "GRU",
    {{64, 1, 256}, {64, 8, 256}},
    [](Random *random, const Shape &shape) {
      return CaseOf(random, shape, "GRU", 3).Int("reset_after", 1);
    });

}  // namespace
}  // namespace mace
