// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "mace/core/status.h"
#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using op_test::OpCase;
using op_test::Random;

struct Layer {
  int64_t rows;
  int64_t depth;
  int64_t columns;
  DataType type = DataType::kFloat32;
};

constexpr Layer kLayers[] = {
    // Classifiers; the weights of VGG's are far larger than the caches.
    {1, 1280, 1000},
    {1, 2048, 1000},
    {1, 2048, 1000, DataType::kFloat16},
    {1, 4096, 4096},
    {1, 4096, 4096, DataType::kFloat16},
    {1, 4096, 4096, DataType::kBfloat16},
    // Tokens of a transformer
    {128, 768, 3072},
    {128, 3072, 768},
};

const bool registered = [] {
  for (const Layer &layer : kLayers) {
    const char *type = layer.type == DataType::kFloat32   ? "float"
                       : layer.type == DataType::kFloat16 ? "half"
                                                          : "bfloat16";
    benchmark::RegisterOp(
        benchmark::OpName("FULLY_CONNECTED", {layer.rows, layer.depth},
                          std::to_string(layer.columns), type),
        [layer](Random *random) {
          return OpCase("FullyConnected")
              .Input(random->Floats({layer.rows, layer.depth}))
              .Packed(random->Floats({layer.columns, layer.depth}), 1,
                      layer.type)
              .Constant(random->Floats({layer.columns}));
        });
  }
  return true;
}();

}  // namespace
}  // namespace mace
