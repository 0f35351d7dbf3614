// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "mace/core/base/status.h"
#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using op_test::OpCase;
using op_test::Random;
using op_test::Value;

struct Layer {
  int64_t rows;
  int64_t depth;
  int64_t columns;
  const char *type = "float";  // of AddWeights
};

constexpr Layer kLayers[] = {
    // Classifiers; the weights of VGG's classifier are much larger than the
    // caches.
    {1, 1280, 1000},
    {1, 2048, 1000},
    {1, 2048, 1000, "half"},
    {1, 2048, 1000, "int8"},
    {1, 4096, 4096},
    {1, 4096, 4096, "half"},
    {1, 4096, 4096, "bfloat16"},
    {1, 4096, 4096, "int8"},
    {1, 4096, 4096, "bf16"},
    {1, 4096, 4096, "fp16"},
    // Tokens of a transformer
    {128, 768, 3072},
    {128, 3072, 768},
    {128, 3072, 768, "int8"},
    {128, 3072, 768, "bf16"},
    {128, 3072, 768, "fp16"},
};

const bool registered = [] {
  for (const Layer &layer : kLayers) {
    benchmark::RegisterOp(
        benchmark::OpName("FULLY_CONNECTED", {layer.rows, layer.depth},
                          std::to_string(layer.columns), layer.type),
        [layer](Random *random) {
          OpCase op_case("FullyConnected");
          op_case.Input(random->Floats({layer.rows, layer.depth}));
          const Value weights = random->Floats({layer.columns, layer.depth});
          benchmark::AddWeights(layer.type, weights, 1, &op_case);
          return op_case.Constant(random->Floats({layer.columns}));
        });
  }
  return true;
}();

}  // namespace
}  // namespace mace
