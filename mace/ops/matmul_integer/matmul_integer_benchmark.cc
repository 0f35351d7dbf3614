// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using op_test::OpCase;
using op_test::Random;
using op_test::Value;

template <typename T>
Value Bytes(Random *random, DataType type, const Shape &shape, int64_t low) {
  std::vector<T> bytes;
  for (int64_t i = 0; i < shape.Elements(); ++i) {
    bytes.push_back(static_cast<T>(random->Int(low, low + 255)));
  }
  return Value::Of(type, shape, bytes);
}

struct Product {
  int64_t batch;
  int64_t rows;
  int64_t depth;
  int64_t columns;
  bool constant;
};

constexpr Product kProducts[] = {{1, 128, 768, 768, true},
                                 {1, 128, 768, 3072, true},
                                 {12, 128, 64, 128, false},  // attention scores
                                 {1, 1, 1024, 1024, true}};

const bool registered = [] {
  for (const Product &p : kProducts) {
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

}  // namespace
}  // namespace mace
