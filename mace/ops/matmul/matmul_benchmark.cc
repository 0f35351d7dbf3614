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

struct Product {
  int64_t batch;
  int64_t rows;
  int64_t depth;
  int64_t columns;
  bool transpose_b;
  Precision precision = Precision::kFloat32;
  bool quantized = false;
};

constexpr Product kProducts[] = {
    {1, 128, 768, 768, false},
    {1, 512, 512, 512, false},
    {1, 512, 512, 512, true},
    {12, 128, 64, 128, true},   // attention scores
    {12, 128, 128, 64, false},  // attention values
    {1, 1, 1024, 1024, false},
    {1, 512, 512, 512, false, Precision::kBfloat16},
    {1, 512, 512, 512, false, Precision::kFloat32, true},
    {1, 512, 512, 512, true, Precision::kFloat32, true},
    {12, 128, 64, 128, true, Precision::kFloat32, true},
    {12, 128, 128, 64, false, Precision::kFloat32, true},
    {3, 197, 64, 197, true, Precision::kFloat32, true},
    {3, 197, 197, 64, false, Precision::kFloat32, true},
    {3, 197, 64, 197, true},
    {3, 197, 197, 64, false},
    {1, 1, 1024, 1024, false, Precision::kFloat32, true},
};

const char *TypeOf(const Product &p) {
  if (p.quantized) return "uint8";
  return p.precision == Precision::kBfloat16 ? "bf16" : "float";
}

Value Operand(const Product &p, const Shape &shape, Random *random) {
  if (!p.quantized) return random->Floats(shape);
  return Value::Bytes(DataType::kUint8, shape,
                      random->Ints(shape, 0, 255).ints());
}

const bool registered = [] {
  for (const Product &p : kProducts) {
    benchmark::RegisterOp(
        benchmark::OpName("MATMUL", {p.batch, p.rows, p.depth},
                          MakeString(p.columns, p.transpose_b ? "_TB" : ""),
                          TypeOf(p)),
        [p](Random *random) {
          OpCase op_case("MatMul");
          op_case.ComputeIn(p.precision);
          const Shape b = p.transpose_b ? Shape{p.batch, p.columns, p.depth}
                                        : Shape{p.batch, p.depth, p.columns};
          op_case.Input(Operand(p, {p.batch, p.rows, p.depth}, random));
          if (p.quantized) op_case.Quantized({{0.02f}, {121}, 0});
          op_case.Input(Operand(p, b, random));
          if (p.quantized) {
            op_case.Quantized({{0.03f}, {140}, 0})
                .QuantizedOutput(DataType::kUint8, 0.4f, 117);
          }
          return op_case.Int("transpose_b", p.transpose_b);
        });
  }
  return true;
}();

}  // namespace
}  // namespace mace
