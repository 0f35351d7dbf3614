// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <vector>

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using op_test::OpCase;
using op_test::Random;
using op_test::Value;

struct Product {
  int64_t rows;
  int64_t depth;
  int64_t columns;
};

// Layers of a transformer, for tokens.
constexpr Product kProducts[] = {
    {1, 768, 768},   {1, 768, 3072},   {16, 768, 768},   {16, 768, 3072},
    {128, 768, 768}, {128, 768, 3072}, {128, 3072, 768}, {128, 192, 192}};

const bool registered = [] {
  for (const Product &p : kProducts) {
    for (const char *range : {"ROW", "TENSOR"}) {
      benchmark::RegisterOp(
          benchmark::OpName("DYNAMIC_QUANTIZE_MATMUL",
                            {p.rows, p.depth, p.columns}, range, "float32"),
          [p, range](Random *random) {
            std::vector<int8_t> weights;
            for (int64_t i = 0; i < p.depth * p.columns; ++i) {
              weights.push_back(static_cast<int8_t>(random->Int(-127, 127)));
            }
            OpCase op_case("DynamicQuantizeMatMul");
            op_case.Input(random->Floats({p.rows, p.depth}))
                .PackedMatrices(
                    Value::Of(DataType::kInt8, {p.depth, p.columns}, weights))
                .Constant(random->Floats({p.columns}, 0.001f, 0.01f))
                .NoInput()
                .Constant(random->Floats({p.columns}))
                .String("range", range);
            return op_case;
          });
    }
  }
  return true;
}();

}  // namespace
}  // namespace mace
