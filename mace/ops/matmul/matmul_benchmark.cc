// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "mace/core/base/status.h"
#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using op_test::OpCase;
using op_test::Random;

struct Product {
  int64_t batch;
  int64_t rows;
  int64_t depth;
  int64_t columns;
  bool transpose_b;
  Precision precision = Precision::kFloat32;
};

constexpr Product kProducts[] = {
    {1, 128, 768, 768, false}, {1, 512, 512, 512, false},
    {1, 512, 512, 512, true},  {12, 128, 64, 128, true},  // attention scores
    {12, 128, 128, 64, false},                            // attention values
    {1, 1, 1024, 1024, false}, {1, 512, 512, 512, false, Precision::kBfloat16},
};

const bool registered = [] {
  for (const Product &p : kProducts) {
    benchmark::RegisterOp(
        benchmark::OpName(
            "MATMUL", {p.batch, p.rows, p.depth},
            MakeString(p.columns, p.transpose_b ? "_TB" : ""),
            p.precision == Precision::kBfloat16 ? "bf16" : "float"),
        [p](Random *random) {
          OpCase op_case("MatMul");
          op_case.ComputeIn(p.precision);
          return op_case.Input(random->Floats({p.batch, p.rows, p.depth}))
              .Input(random->Floats(p.transpose_b
                                        ? Shape{p.batch, p.columns, p.depth}
                                        : Shape{p.batch, p.depth, p.columns}))
              .Int("transpose_b", p.transpose_b);
        });
  }
  return true;
}();

}  // namespace
}  // namespace mace
