// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

struct MatmulProduct {
  int64_t batch;
  int64_t rows;
  int64_t depth;
  int64_t columns;
  bool transpose_b;
  Precision precision = Precision::kFloat32;
  bool quantized = false;
};

constexpr MatmulProduct kMatmulProducts[] = {
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

const char *TypeOf(const MatmulProduct &p) {
  if (p.quantized) return "uint8";
  return p.precision == Precision::kBfloat16 ? "bf16" : "float";
}

Value Operand(const MatmulProduct &p, const Shape &shape, Random *random) {
  if (!p.quantized) return random->Floats(shape);
  return Value::Bytes(DataType::kUint8, shape,
                      random->Ints(shape, 0, 255).ints());
}

const bool matmul_registered = [] {
  for (const MatmulProduct &p : kMatmulProducts) {
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

template <typename T>
Value Bytes(Random *random, DataType type, const Shape &shape, int64_t low) {
  std::vector<T> bytes;
  for (int64_t i = 0; i < shape.Elements(); ++i) {
    bytes.push_back(static_cast<T>(random->Int(low, low + 255)));
  }
  return Value::Of(type, shape, bytes);
}

struct MatmulIntegerProduct {
  int64_t batch;
  int64_t rows;
  int64_t depth;
  int64_t columns;
  bool constant;
};

constexpr MatmulIntegerProduct kMatmulIntegerProducts[] = {
    {1, 128, 768, 768, true},
    {1, 128, 768, 3072, true},
    {12, 128, 64, 128, false},  // attention scores
    {1, 1, 1024, 1024, true}};

const bool matmul_integer_registered = [] {
  for (const MatmulIntegerProduct &p : kMatmulIntegerProducts) {
    benchmark::RegisterOp(
        benchmark::OpName("MATMUL_INTEGER", {p.batch, p.rows, p.depth},
                          MakeString(p.columns, p.constant ? "_CONST" : ""),
                          "uint8"),
        [p](Random *random) {
          const Value b =
              Bytes<int8_t>(random, DataType::kInt8,
                            p.constant ? Shape{p.depth, p.columns}
                                       : Shape{p.batch, p.depth, p.columns},
                            -128);
          OpCase op_case("MatMulInteger");
          op_case.Input(Bytes<uint8_t>(random, DataType::kUint8,
                                       {p.batch, p.rows, p.depth}, 0));
          p.constant ? op_case.PackedMatrices(b) : op_case.Input(b);
          return op_case.Input(
              Value::Of<uint8_t>(DataType::kUint8, Shape{}, {131}));
        });
  }
  return true;
}();

struct DynamicQuantizeMatmulProduct {
  int64_t rows;
  int64_t depth;
  int64_t columns;
};

// Layers of a transformer, for tokens.
constexpr DynamicQuantizeMatmulProduct kDynamicQuantizeMatmulProducts[] = {
    {1, 768, 768},   {1, 768, 3072},   {16, 768, 768},   {16, 768, 3072},
    {128, 768, 768}, {128, 768, 3072}, {128, 3072, 768}, {128, 192, 192}};

const bool dynamic_quantize_matmul_registered = [] {
  for (const DynamicQuantizeMatmulProduct &p : kDynamicQuantizeMatmulProducts) {
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

// Many small matrices, and a large one.
const OpBenchmarks matrices(
    "DETERMINANT",
    "MATRICES",
    {{4096, 3, 3}, {1, 128, 128}},
    [](Random *random, const Shape &shape) {
      return OpCase("Determinant").Input(random->Floats(shape));
    });

}  // namespace
}  // namespace mace
