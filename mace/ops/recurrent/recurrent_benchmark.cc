// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <vector>

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::AddWeights;
using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

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

// The same layers, with weights of 8 bits that are multiplied as integers.
const OpBenchmarks integers(
    "DYNAMIC_QUANTIZE_RECURRENT",
    "LSTM",
    {{64, 1, 128}, {64, 1, 256}, {64, 1, 512}, {16, 1, 1024}, {64, 8, 256}},
    [](Random *random, const Shape &shape) {
      const int64_t units = shape[2];
      OpCase op_case("DynamicQuantizeRecurrent", 3);
      op_case.Input(random->Floats({shape[0], shape[1], 4 * units}));
      const std::vector<int32_t> q =
          random->Ints({units, 4 * units}, -127, 127).ints();
      op_case.PackedMatrices(
          Value::Bytes(DataType::kInt8, {units, 4 * units}, q));
      op_case.Constant(random->Floats({1, 4 * units}, 0.0005f, 0.001f));
      return op_case.String("mode", "LSTM");
    });

}  // namespace
}  // namespace mace
