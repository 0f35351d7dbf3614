// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "mace/core/status.h"
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
  DataType type = DataType::kFloat32;
};

constexpr Layer kLayers[] = {
    // Classifiers; the weights of VGG's are far larger than the caches.
    {1, 1280, 1000},
    {1, 2048, 1000},
    {1, 2048, 1000, DataType::kFloat16},
    {1, 2048, 1000, DataType::kInt8},
    {1, 4096, 4096},
    {1, 4096, 4096, DataType::kFloat16},
    {1, 4096, 4096, DataType::kBfloat16},
    {1, 4096, 4096, DataType::kInt8},
    // Tokens of a transformer
    {128, 768, 3072},
    {128, 3072, 768},
    {128, 3072, 768, DataType::kInt8},
};

const char *TypeName(DataType type) {
  switch (type) {
    case DataType::kFloat16:
      return "half";
    case DataType::kBfloat16:
      return "bfloat16";
    case DataType::kInt8:
      return "int8";
    default:
      return "float";
  }
}

const bool registered = [] {
  for (const Layer &layer : kLayers) {
    benchmark::RegisterOp(
        benchmark::OpName("FULLY_CONNECTED", {layer.rows, layer.depth},
                          std::to_string(layer.columns), TypeName(layer.type)),
        [layer](Random *random) {
          OpCase op_case("FullyConnected");
          op_case.Input(random->Floats({layer.rows, layer.depth}));
          const Value weights = random->Floats({layer.columns, layer.depth});
          if (layer.type == DataType::kInt8) {
            op_case.PackedScaled(weights);
          } else {
            op_case.Packed(weights, 1, layer.type);
          }
          return op_case.Constant(random->Floats({layer.columns}));
        });
  }
  return true;
}();

}  // namespace
}  // namespace mace
