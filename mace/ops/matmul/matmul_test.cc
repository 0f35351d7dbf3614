// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::CaseInput;
using op_test::ExpectError;
using op_test::ExpectFloats;
using op_test::OpCase;
using op_test::OpResult;
using op_test::OpSession;
using op_test::Random;
using op_test::RunOptions;
using op_test::Tolerance;
using op_test::Value;

constexpr Tolerance kTolerance = {2e-5, 2e-5};

// Element (row, column) of matrix `matrix` of a value, perhaps transposed.
double At(const Value &v,
          const std::vector<float> &data,
          int64_t matrix,
          int64_t row,
          int64_t column,
          bool transposed) {
  const size_t rank = v.shape.rank();
  if (transposed) std::swap(row, column);
  return data[static_cast<size_t>(
      (matrix * v.shape[rank - 2] + row) * v.shape[rank - 1] + column)];
}

// `batches` lists the matrix of a and of b for every matrix of the result.
std::vector<double> Multiply(
    const Value &a,
    const Value &b,
    bool ta,
    bool tb,
    const std::vector<std::pair<int64_t, int64_t>> &batches) {
  const std::vector<float> as = a.floats();
  const std::vector<float> bs = b.floats();
  const int64_t rows = a.shape[a.shape.rank() - (ta ? 1 : 2)];
  const int64_t depth = a.shape[a.shape.rank() - (ta ? 2 : 1)];
  const int64_t columns = b.shape[b.shape.rank() - (tb ? 2 : 1)];
  std::vector<double> out;
  for (const auto &[i, j] : batches) {
    for (int64_t m = 0; m < rows; ++m) {
      for (int64_t n = 0; n < columns; ++n) {
        double sum = 0;
        for (int64_t k = 0; k < depth; ++k) {
          sum += At(a, as, i, m, k, ta) * At(b, bs, j, k, n, tb);
        }
        out.push_back(sum);
      }
    }
  }
  return out;
}

TEST(MatMulTest, EveryTransposition) {
  Random random(1);
  for (bool ta : {false, true}) {
    for (bool tb : {false, true}) {
      for (int64_t rows : {1, 19}) {
        const Value a = random.Floats(ta ? Shape{37, rows} : Shape{rows, 37});
        const Value b = random.Floats(tb ? Shape{45, 37} : Shape{37, 45});
        ExpectFloats(OpCase("MatMul")
                         .Input(a)
                         .Input(b)
                         .Int("transpose_a", ta)
                         .Int("transpose_b", tb),
                     {rows, 45}, Multiply(a, b, ta, tb, {{0, 0}}), kTolerance);
      }
    }
  }
}

// With so many rows, B is packed once for all tasks.
TEST(MatMulTest, ManyRows) {
  Random random(5);
  for (bool ta : {false, true}) {
    for (bool tb : {false, true}) {
      const Value a =
          random.Floats(ta ? Shape{2, 450, 600} : Shape{2, 600, 450});
      const Value b = random.Floats(tb ? Shape{2, 18, 450} : Shape{2, 450, 18});
      const OpCase op_case = OpCase("MatMul")
                                 .Input(a)
                                 .Input(b)
                                 .Int("transpose_a", ta)
                                 .Int("transpose_b", tb);
      ExpectFloats(op_case, {2, 600, 18},
                   Multiply(a, b, ta, tb, {{0, 0}, {1, 1}}), {1e-4, 1e-4});
      for (const op_test::IsaResult &result : op_test::RunEverywhere(op_case)) {
        EXPECT_EQ(result.result.kernel_name, "pack, gemm");
      }
    }
  }
}

// Several tiles of every kind that a GPU may choose, the last ones incomplete.
TEST(MatMulTest, ManyTiles) {
  Random random(7);
  for (bool ta : {false, true}) {
    for (bool tb : {false, true}) {
      for (const auto &[batches, rows, columns] :
           {std::tuple<int64_t, int64_t, int64_t>{1, 130, 71},
            {40, 35, 37},
            {1, 150, 201}}) {
        const int64_t depth = 43;
        const Value a = random.Floats(ta ? Shape{batches, depth, rows}
                                         : Shape{batches, rows, depth});
        const Value b = random.Floats(tb ? Shape{batches, columns, depth}
                                         : Shape{batches, depth, columns});
        std::vector<std::pair<int64_t, int64_t>> pairs;
        for (int64_t i = 0; i < batches; ++i) pairs.emplace_back(i, i);
        ExpectFloats(OpCase("MatMul")
                         .Input(a)
                         .Input(b)
                         .Int("transpose_a", ta)
                         .Int("transpose_b", tb),
                     {batches, rows, columns}, Multiply(a, b, ta, tb, pairs),
                     kTolerance);
      }
    }
  }
}

// So few sums of so many products that a GPU divides each.
TEST(MatMulTest, LongSums) {
  Random random(8);
  for (bool ta : {false, true}) {
    for (bool tb : {false, true}) {
      for (const auto &[rows, columns] :
           {std::pair<int64_t, int64_t>{1, 70}, {3, 9}, {20, 30}}) {
        const int64_t depth = 1003;
        const Value a =
            random.Floats(ta ? Shape{2, depth, rows} : Shape{2, rows, depth});
        const Value b = random.Floats(tb ? Shape{2, columns, depth}
                                         : Shape{2, depth, columns});
        ExpectFloats(OpCase("MatMul")
                         .Input(a)
                         .Input(b)
                         .Int("transpose_a", ta)
                         .Int("transpose_b", tb),
                     {2, rows, columns},
                     Multiply(a, b, ta, tb, {{0, 0}, {1, 1}}), {1e-4, 1e-4});
      }
    }
  }
}

TEST(MatMulTest, BatchesOfBoth) {
  Random random(2);
  const Value a = random.Floats({2, 3, 5, 8});
  const Value b = random.Floats({2, 3, 8, 20});
  ExpectFloats(OpCase("MatMul").Input(a).Input(b), {2, 3, 5, 20},
               Multiply(a, b, false, false,
                        {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}}),
               kTolerance);
}

TEST(MatMulTest, OneMatrixForAllBatches) {
  Random random(3);
  const Value a = random.Floats({2, 2, 5, 8});
  const Value b = random.Floats({8, 20});
  const std::vector<std::pair<int64_t, int64_t>> batches = {
      {0, 0}, {1, 0}, {2, 0}, {3, 0}};
  ExpectFloats(OpCase("MatMul").Input(a).Input(b), {2, 2, 5, 20},
               Multiply(a, b, false, false, batches), kTolerance);
  const Value t = random.Floats({2, 2, 8, 5});
  ExpectFloats(OpCase("MatMul").Input(t).Input(b).Int("transpose_a", 1),
               {2, 2, 5, 20}, Multiply(t, b, true, false, batches), kTolerance);
}

TEST(MatMulTest, BatchesBroadcastBothWays) {
  Random random(4);
  const Value a = random.Floats({2, 1, 5, 8});
  const Value b = random.Floats({3, 8, 20});
  ExpectFloats(OpCase("MatMul").Input(a).Input(b), {2, 3, 5, 20},
               Multiply(a, b, false, false,
                        {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}}),
               kTolerance);
  // A of one batch, b of several.
  const Value c = random.Floats({4, 8});
  ExpectFloats(OpCase("MatMul").Input(c).Input(b), {3, 4, 20},
               Multiply(c, b, false, false, {{0, 0}, {0, 1}, {0, 2}}),
               kTolerance);
}

// The column is multiplied as a row, by the rows of A where they are.
TEST(MatMulTest, OneColumn) {
  Random random(9);
  const auto check = [&](const Shape &a_shape, const Shape &b_shape,
                         const Shape &output, int64_t a_step, int64_t b_step) {
    const Value a = random.Floats(a_shape);
    const Value b = random.Floats(b_shape);
    std::vector<std::pair<int64_t, int64_t>> batches;
    for (int64_t i = 0; i < output.Elements(0, output.rank() - 2); ++i) {
      batches.emplace_back(i * a_step, i * b_step);
    }
    for (bool transposed : {false, true}) {
      Shape shape = b_shape;
      if (transposed) {
        shape[b_shape.rank() - 2] = 1;
        shape[b_shape.rank() - 1] = b_shape[b_shape.rank() - 2];
      }
      const Value own = Value::Floats(shape, b.floats());
      ExpectFloats(
          OpCase("MatMul").Input(a).Input(own).Int("transpose_b", transposed),
          output, Multiply(a, own, false, transposed, batches), kTolerance);
    }
  };
  check({70, 37}, {37, 1}, {70, 1}, 0, 0);
  check({3, 70, 37}, {3, 37, 1}, {3, 70, 1}, 1, 1);
  check({3, 70, 37}, {37, 1}, {3, 70, 1}, 1, 0);
  check({7, 37}, {3, 37, 1}, {3, 7, 1}, 0, 1);
  check({70, 37}, {20, 37, 1}, {20, 70, 1}, 0, 1);
  const Value a = random.Floats({37, 70});
  const Value b = random.Floats({37, 1});
  ExpectFloats(OpCase("MatMul").Input(a).Input(b).Int("transpose_a", 1),
               {70, 1}, Multiply(a, b, true, false, {{0, 0}}), kTolerance);
}

TEST(MatMulTest, NothingToMultiply) {
  Random random(5);
  ExpectFloats(OpCase("MatMul")
                   .Input(random.Floats({2, 0}))
                   .Input(random.Floats({0, 3})),
               {2, 3}, std::vector<double>(6, 0.0), {});
  ExpectFloats(OpCase("MatMul")
                   .Input(random.Floats({0, 4}))
                   .Input(random.Floats({4, 3})),
               {0, 3}, {}, {});
}

TEST(MatMulTest, ShapeMayChangeBetweenRuns) {
  Random random(6);
  OpCase op_case("MatMul");
  op_case.Input(random.Floats({3, 4})).Input(random.Floats({4, 5}));
  RunOptions options;
  options.threads = 2;
  OpSession session(op_case, options);
  for (int64_t size : {4, 70, 1, 33}) {
    std::vector<CaseInput> inputs = op_case.inputs;
    inputs[0].value = random.Floats({size, size + 1});
    inputs[1].value = random.Floats({size + 1, 2 * size});
    const OpResult result = session.Run(inputs);
    ASSERT_TRUE(IsOk(result.status)) << result.status.information();
    EXPECT_EQ(result.violation, "");
    op_test::ExpectNear(
        result.outputs[0].floats(),
        Multiply(inputs[0].value, inputs[1].value, false, false, {{0, 0}}),
        kTolerance);
    EXPECT_EQ(result.macs, size * (size + 1) * 2 * size);
  }
}

TEST(MatMulTest, NamesWhatDoesNotFit) {
  Random random(7);
  auto product = [&](const Shape &a, const Shape &b) {
    return OpCase("MatMul").Input(random.Floats(a)).Input(random.Floats(b));
  };
  ExpectError(product({3, 4}, {5, 6}), MaceStatus::MACE_INVALID_ARGS,
              "[3, 4] by [5, 6]");
  ExpectError(product({4}, {4, 6}), MaceStatus::MACE_INVALID_ARGS, "[4]");
  ExpectError(product({2, 3, 4}, {3, 4, 6}), MaceStatus::MACE_INVALID_ARGS,
              "broadcast");
  ExpectError(product({3, 4}, {4, 6}).Int("transpose_b", 1),
              MaceStatus::MACE_INVALID_ARGS, "transposed");
}

Value RoundedToBfloat16(const Value &value) {
  std::vector<float> floats = value.floats();
  for (float &x : floats) {
    x = op_test::WidenBfloat16(op_test::NarrowToBfloat16(x));
  }
  return Value::Floats(value.shape, floats);
}

// On processors with bf16 products, operands and results are rounded; on
// others, none is. The operands here need no rounding.
TEST(MatMulTest, Bf16Arithmetic) {
  Random random(21);
  for (bool ta : {false, true}) {
    for (bool tb : {false, true}) {
      for (int64_t depth : {37, 64}) {
        const Value a = RoundedToBfloat16(
            random.Floats(ta ? Shape{3, depth, 19} : Shape{3, 19, depth}));
        const Value b = RoundedToBfloat16(
            random.Floats(tb ? Shape{3, 45, depth} : Shape{3, depth, 45}));
        const OpCase op_case = OpCase("MatMul")
                                   .Input(a)
                                   .Input(b)
                                   .Int("transpose_a", ta)
                                   .Int("transpose_b", tb)
                                   .ComputeIn(Precision::kBfloat16);
        ExpectFloats(op_case, {3, 19, 45},
                     Multiply(a, b, ta, tb, {{0, 0}, {1, 1}, {2, 2}}),
                     {2e-5, op_test::HalfError(true)});
        for (const op_test::IsaResult &result :
             op_test::RunEverywhere(op_case)) {
          EXPECT_EQ(result.result.kernel_name.find("bf16") != std::string::npos,
                    HasBf16(result.isa))
              << result.result.kernel_name;
        }
      }
    }
  }
}

TEST(MatMulTest, Bf16ArithmeticOnlyIfAskedFor) {
  Random random(22);
  const OpCase op_case = OpCase("MatMul")
                             .Input(random.Floats({5, 33}))
                             .Input(random.Floats({33, 18}));
  for (const op_test::IsaResult &result : op_test::RunEverywhere(op_case)) {
    EXPECT_EQ(result.result.kernel_name, "few rows");
  }
}

}  // namespace
}  // namespace mace
