// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Compares quantized products of two computed matrices with the definition of
// their arithmetic, to the bit.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::CaseInput;
using op_test::ExpectValue;
using op_test::LeastByte;
using op_test::OpCase;
using op_test::OpResult;
using op_test::OpSession;
using op_test::Random;
using op_test::RunOptions;
using op_test::Value;

struct Side {
  DataType type = DataType::kUint8;
  float scale = 0.02f;
  int32_t zero = 0;  // of uint8
  int32_t Zero() const { return zero + LeastByte(type); }
};

// Matrices of a and of b for every matrix of the result.
using Batches = std::vector<std::pair<int64_t, int64_t>>;

struct Product {
  Shape a_batches;
  Shape b_batches;
  Batches batches = {{0, 0}};
  Shape y_batches;
  int64_t rows = 1;
  int64_t depth = 1;
  int64_t columns = 1;
  bool transpose_a = false;
  bool transpose_b = false;
  Side a = {DataType::kUint8, 0.02f, 121};
  Side b = {DataType::kUint8, 0.03f, 140};
  // Large enough that some results are limited.
  Side y = {DataType::kUint8, 0.0f, 117};
};

Shape With(const Shape &batches, int64_t rows, int64_t columns) {
  std::vector<int64_t> dims;
  for (size_t i = 0; i < batches.rank(); ++i) dims.push_back(batches[i]);
  dims.push_back(rows);
  dims.push_back(columns);
  return Shape(dims.data(), dims.size());
}

float OutputScale(const Product &p) {
  if (p.y.scale > 0) return p.y.scale;
  return std::max(1.0f, std::sqrt(static_cast<float>(p.depth))) * 0.04f;
}

Value Numbers(const Side &side, const Shape &shape, Random *random) {
  const int32_t low = LeastByte(side.type);
  return Value::Bytes(side.type, shape,
                      random->Ints(shape, low, low + 255).ints());
}

CaseInput InputOf(const Side &side, const Value &value) {
  OpCase op_case("MatMul");
  op_case.Input(value).Quantized({{side.scale}, {side.Zero()}, 0});
  return op_case.inputs[0];
}

std::vector<CaseInput> InputsOf(const Product &p, uint32_t seed) {
  Random random(seed, Random::Quiet());
  const Shape a = p.transpose_a ? With(p.a_batches, p.depth, p.rows)
                                : With(p.a_batches, p.rows, p.depth);
  const Shape b = p.transpose_b ? With(p.b_batches, p.columns, p.depth)
                                : With(p.b_batches, p.depth, p.columns);
  return {InputOf(p.a, Numbers(p.a, a, &random)),
          InputOf(p.b, Numbers(p.b, b, &random))};
}

OpCase CaseOf(const Product &p, uint32_t seed = 5) {
  OpCase op_case("MatMul");
  op_case.inputs = InputsOf(p, seed);
  op_case.Int("transpose_a", p.transpose_a)
      .Int("transpose_b", p.transpose_b)
      .QuantizedOutput(p.y.type, OutputScale(p), p.y.Zero());
  op_case.OnCpuOnly();
  return op_case;
}

int32_t At(const CaseInput &input,
           int64_t zero,
           int64_t matrix,
           int64_t row,
           int64_t column,
           bool transposed) {
  const Value &v = input.value;
  const size_t rank = v.shape.rank();
  if (transposed) std::swap(row, column);
  const uint8_t byte = v.bytes[static_cast<size_t>(
      (matrix * v.shape[rank - 2] + row) * v.shape[rank - 1] + column)];
  const int32_t q = v.data_type == DataType::kUint8
                        ? int32_t{byte}
                        : int32_t{static_cast<int8_t>(byte)};
  return q - static_cast<int32_t>(zero);
}

Value Wanted(const Product &p, const std::vector<CaseInput> &inputs) {
  std::vector<int32_t> found;
  const float scale = p.a.scale * p.b.scale / OutputScale(p);
  const int32_t low = LeastByte(p.y.type);
  for (const auto &[i, j] : p.batches) {
    for (int64_t m = 0; m < p.rows; ++m) {
      for (int64_t n = 0; n < p.columns; ++n) {
        int64_t sum = 0;
        for (int64_t k = 0; k < p.depth; ++k) {
          sum += At(inputs[0], p.a.Zero(), i, m, k, p.transpose_a) *
                 At(inputs[1], p.b.Zero(), j, k, n, p.transpose_b);
        }
        const auto wrapped = static_cast<int32_t>(static_cast<uint32_t>(sum));
        const int64_t steps =
            std::llrint(static_cast<float>(wrapped) * scale) + p.y.Zero();
        found.push_back(
            static_cast<int32_t>(std::clamp<int64_t>(steps, low, low + 255)));
      }
    }
  }
  return Value::Bytes(p.y.type, With(p.y_batches, p.rows, p.columns), found);
}

void Check(const Product &p) {
  const OpCase op_case = CaseOf(p);
  ExpectValue(op_case, Wanted(p, op_case.inputs));
}

TEST(QuantizedMatMulTest, EveryType) {
  for (DataType a : {DataType::kUint8, DataType::kInt8}) {
    for (DataType b : {DataType::kUint8, DataType::kInt8}) {
      for (DataType y : {DataType::kUint8, DataType::kInt8}) {
        Product p;
        p.rows = 7;
        p.depth = 21;
        p.columns = 35;
        p.a.type = a;
        p.b.type = b;
        p.y.type = y;
        Check(p);
      }
    }
  }
}

// 128: no sums of rows are necessary.
TEST(QuantizedMatMulTest, ZeroPoints) {
  for (int32_t a_zero : {0, 128, 255}) {
    for (int32_t b_zero : {0, 128, 255}) {
      for (int32_t y_zero : {0, 255}) {
        Product p;
        p.rows = 9;
        p.depth = 18;
        p.columns = 20;
        p.a.zero = a_zero;
        p.b.zero = b_zero;
        p.y.zero = y_zero;
        Check(p);
      }
    }
  }
}

// The last four elements of a row, and packing of 16.
TEST(QuantizedMatMulTest, EveryTranspositionAndDepth) {
  for (bool transpose_a : {false, true}) {
    for (bool transpose_b : {false, true}) {
      for (int64_t depth : {1, 2, 3, 4, 5, 7, 16, 19, 37, 64, 131}) {
        Product p;
        p.rows = 5;
        p.depth = depth;
        p.columns = 17;
        p.transpose_a = transpose_a;
        p.transpose_b = transpose_b;
        Check(p);
      }
    }
  }
}

TEST(QuantizedMatMulTest, RowsAndColumns) {
  for (bool transpose_b : {false, true}) {
    for (int64_t rows : {1, 2, 6, 13, 25}) {
      for (int64_t columns : {1, 15, 16, 33, 64, 100}) {
        Product p;
        p.rows = rows;
        p.depth = 24;
        p.columns = columns;
        p.transpose_b = transpose_b;
        Check(p);
      }
    }
  }
}

// So many that several threads take part, of rows and of columns.
TEST(QuantizedMatMulTest, ManyTasks) {
  for (const auto &[rows, depth, columns] :
       {std::tuple<int64_t, int64_t, int64_t>{150, 260, 330},
        {1, 3000, 700},
        {900, 500, 40},
        {300, 1200, 3}}) {
    Product p;
    p.rows = rows;
    p.depth = depth;
    p.columns = columns;
    Check(p);
  }
}

TEST(QuantizedMatMulTest, Batches) {
  Product p;
  p.rows = 5;
  p.depth = 8;
  p.columns = 20;
  const auto check = [&](const Shape &a, const Shape &b, const Shape &y,
                         const Batches &batches) {
    p.a_batches = a;
    p.b_batches = b;
    p.y_batches = y;
    p.batches = batches;
    for (bool transpose : {false, true}) {
      p.transpose_a = p.transpose_b = transpose;
      Check(p);
    }
  };
  check({2, 3}, {2, 3}, {2, 3},
        {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}});
  check({2, 2}, {}, {2, 2}, {{0, 0}, {1, 0}, {2, 0}, {3, 0}});
  check({2, 1}, {3}, {2, 3}, {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}});
  check({}, {3}, {3}, {{0, 0}, {0, 1}, {0, 2}});
  check({3}, {1}, {3}, {{0, 0}, {1, 0}, {2, 0}});
}

TEST(QuantizedMatMulTest, NothingToMultiply) {
  for (DataType type : {DataType::kUint8, DataType::kInt8}) {
    Product p;
    p.y.type = type;
    p.rows = 2;
    p.columns = 3;
    p.depth = 0;
    Check(p);
    p.depth = 4;
    p.rows = 0;
    Check(p);
  }
}

// No step of the output is so small that a result leaves 32 bits, but results
// may be far beyond the limits; 33,100 products of 255 * 255 leave 32 bits.
TEST(QuantizedMatMulTest, FarBeyondTheLimits) {
  Product p;
  p.rows = 3;
  p.depth = 40;
  p.columns = 18;
  p.y.scale = 1e-12f;
  Check(p);
  p.rows = p.columns = 1;
  p.depth = 33100;
  p.a.zero = p.b.zero = 0;
  p.y.scale = 1e4f;
  OpCase op_case = CaseOf(p);
  for (CaseInput &input : op_case.inputs) {
    std::fill(input.value.bytes.begin(), input.value.bytes.end(), 255);
  }
  ExpectValue(op_case, Wanted(p, op_case.inputs));
}

// A constant is multiplied as a computed matrix is.
TEST(QuantizedMatMulTest, Constants) {
  Product p;
  p.rows = 6;
  p.depth = 10;
  p.columns = 19;
  for (size_t constant : {size_t{0}, size_t{1}}) {
    const std::vector<CaseInput> inputs = InputsOf(p, 8);
    OpCase op_case = CaseOf(p, 8);
    op_case.inputs.clear();
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (i == constant) {
        op_case.Constant(inputs[i].value);
      } else {
        op_case.Input(inputs[i].value);
      }
      op_case.Quantized(inputs[i].quantization);
    }
    ExpectValue(op_case, Wanted(p, inputs));
  }
}

TEST(QuantizedMatMulTest, ShapeMayChangeBetweenRuns) {
  Product p;
  p.rows = p.depth = p.columns = 3;
  p.y.scale = 0.1f;
  const OpCase op_case = CaseOf(p);
  RunOptions options;
  options.threads = 2;
  OpSession session(op_case, options);
  for (int64_t size : {4, 70, 1, 33}) {
    p.rows = size;
    p.depth = size + 1;
    p.columns = 2 * size;
    const std::vector<CaseInput> inputs = InputsOf(p, 9);
    const OpResult result = session.Run(inputs);
    ASSERT_TRUE(IsOk(result.status)) << result.status.information();
    EXPECT_EQ(result.violation, "");
    EXPECT_EQ(result.outputs[0].bytes, Wanted(p, inputs).bytes);
    EXPECT_EQ(result.macs, p.rows * p.depth * p.columns);
  }
}

}  // namespace
}  // namespace mace
