// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdint>
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
using op_test::ExpectValue;
using op_test::OpCase;
using op_test::OpResult;
using op_test::OpSession;
using op_test::Random;
using op_test::RunOptions;
using op_test::Tolerance;
using op_test::Value;

constexpr Tolerance kTolerance = {2e-5, 2e-5};

// Element (row, column) of matrix `matrix` of a value, perhaps transposed.
double MatmulAt(const Value &v,
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
std::vector<double> MultiplyMatmul(
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
          sum += MatmulAt(a, as, i, m, k, ta) * MatmulAt(b, bs, j, k, n, tb);
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
                     {rows, 45}, MultiplyMatmul(a, b, ta, tb, {{0, 0}}),
                     kTolerance);
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
                   MultiplyMatmul(a, b, ta, tb, {{0, 0}, {1, 1}}),
                   {1e-4, 1e-4});
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
                     {batches, rows, columns},
                     MultiplyMatmul(a, b, ta, tb, pairs), kTolerance);
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
                     MultiplyMatmul(a, b, ta, tb, {{0, 0}, {1, 1}}),
                     {1e-4, 1e-4});
      }
    }
  }
}

TEST(MatMulTest, BatchesOfBoth) {
  Random random(2);
  const Value a = random.Floats({2, 3, 5, 8});
  const Value b = random.Floats({2, 3, 8, 20});
  ExpectFloats(OpCase("MatMul").Input(a).Input(b), {2, 3, 5, 20},
               MultiplyMatmul(a, b, false, false,
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
               MultiplyMatmul(a, b, false, false, batches), kTolerance);
  const Value t = random.Floats({2, 2, 8, 5});
  ExpectFloats(OpCase("MatMul").Input(t).Input(b).Int("transpose_a", 1),
               {2, 2, 5, 20}, MultiplyMatmul(t, b, true, false, batches),
               kTolerance);
}

TEST(MatMulTest, BatchesBroadcastBothWays) {
  Random random(4);
  const Value a = random.Floats({2, 1, 5, 8});
  const Value b = random.Floats({3, 8, 20});
  ExpectFloats(OpCase("MatMul").Input(a).Input(b), {2, 3, 5, 20},
               MultiplyMatmul(a, b, false, false,
                              {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}}),
               kTolerance);
  // A of one batch, b of several.
  const Value c = random.Floats({4, 8});
  ExpectFloats(OpCase("MatMul").Input(c).Input(b), {3, 4, 20},
               MultiplyMatmul(c, b, false, false, {{0, 0}, {0, 1}, {0, 2}}),
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
          output, MultiplyMatmul(a, own, false, transposed, batches),
          kTolerance);
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
               {70, 1}, MultiplyMatmul(a, b, true, false, {{0, 0}}),
               kTolerance);
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
    op_test::ExpectNear(result.outputs[0].floats(),
                        MultiplyMatmul(inputs[0].value, inputs[1].value, false,
                                       false, {{0, 0}}),
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
                     MultiplyMatmul(a, b, ta, tb, {{0, 0}, {1, 1}, {2, 2}}),
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

Value Bytes(Random *random, DataType type, const Shape &shape) {
  std::vector<uint8_t> bytes;
  for (int64_t i = 0; i < shape.Elements(); ++i) {
    bytes.push_back(static_cast<uint8_t>(random->Int(0, 255)));
  }
  return Value::Of(type, shape, bytes);
}

int64_t MatmulIntegerAt(const Value &v, int64_t i) {
  const uint8_t byte = v.bytes[static_cast<size_t>(i)];
  return v.data_type == DataType::kUint8 ? int64_t{byte}
                                         : int64_t{static_cast<int8_t>(byte)};
}
int64_t ZeroAt(const Value &v, int64_t i) {
  return MatmulIntegerAt(v, v.bytes.size() == 1 ? 0 : i);
}

// `batches` lists the matrix of a and of b for every matrix of the result.
Value MultiplyMatmulInteger(
    const Value &a,
    const Value &b,
    const Value &a_zero,
    const Value &b_zero,
    const Shape &shape,
    const std::vector<std::pair<int64_t, int64_t>> &batches) {
  const int64_t rows = a.shape[a.shape.rank() - 2];
  const int64_t depth = a.shape.back();
  const int64_t columns = b.shape.back();
  std::vector<int32_t> out;
  for (const auto &[i, j] : batches) {
    for (int64_t m = 0; m < rows; ++m) {
      for (int64_t n = 0; n < columns; ++n) {
        int64_t sum = 0;
        for (int64_t k = 0; k < depth; ++k) {
          sum += (MatmulIntegerAt(a, (i * rows + m) * depth + k) -
                  ZeroAt(a_zero, m)) *
                 (MatmulIntegerAt(b, (j * depth + k) * columns + n) -
                  ZeroAt(b_zero, n));
        }
        out.push_back(static_cast<int32_t>(sum));
      }
    }
  }
  return Value::Ints(shape, out);
}

const Value kNoZero = Value::Of<int8_t>(DataType::kInt8, Shape{}, {0});

TEST(MatMulIntegerTest, EveryTypeAndZeroPoint) {
  Random random(1);
  for (DataType a_type : {DataType::kUint8, DataType::kInt8}) {
    for (DataType b_type : {DataType::kUint8, DataType::kInt8}) {
      for (bool vectors : {false, true}) {
        const Value a = Bytes(&random, a_type, {19, 37});
        const Value b = Bytes(&random, b_type, {37, 45});
        const Value a_zero =
            Bytes(&random, a_type, vectors ? Shape{19} : Shape{});
        const Value b_zero =
            Bytes(&random, b_type, vectors ? Shape{45} : Shape{1});
        const Value want =
            MultiplyMatmulInteger(a, b, a_zero, b_zero, {19, 45}, {{0, 0}});
        ExpectValue(OpCase("MatMulInteger")
                        .Input(a)
                        .Input(b)
                        .Input(a_zero)
                        .Input(b_zero),
                    want);
        ExpectValue(OpCase("MatMulInteger")
                        .Input(a)
                        .Constant(b)
                        .Constant(a_zero)
                        .Constant(b_zero),
                    want);
        ExpectValue(OpCase("MatMulInteger")
                        .Input(a)
                        .PackedMatrices(b)
                        .Constant(a_zero)
                        .Constant(b_zero),
                    want);
        ExpectValue(
            OpCase("MatMulInteger").Input(a).Input(b).NoInput().Input(b_zero),
            MultiplyMatmulInteger(a, b, kNoZero, b_zero, {19, 45}, {{0, 0}}));
        ExpectValue(
            OpCase("MatMulInteger").Input(a).Constant(b),
            MultiplyMatmulInteger(a, b, kNoZero, kNoZero, {19, 45}, {{0, 0}}));
      }
    }
  }
}

// Enough for many tasks.
TEST(MatMulIntegerTest, LargeOnes) {
  Random random(2);
  for (const Shape &size : {Shape{150, 260, 330}, Shape{1, 3000, 700},
                            Shape{900, 700, 40}, Shape{300, 1200, 3}}) {
    const Value a = Bytes(&random, DataType::kUint8, {size[0], size[1]});
    const Value b = Bytes(&random, DataType::kInt8, {size[1], size[2]});
    const Value zero = Value::Of<uint8_t>(DataType::kUint8, Shape{}, {131});
    const Value want = MultiplyMatmulInteger(a, b, zero, kNoZero,
                                             {size[0], size[2]}, {{0, 0}});
    ExpectValue(OpCase("MatMulInteger").Input(a).Constant(b).Input(zero), want);
    ExpectValue(OpCase("MatMulInteger").Input(a).PackedMatrices(b).Input(zero),
                want);
  }
}

TEST(MatMulIntegerTest, Batches) {
  Random random(3);
  const auto type = DataType::kUint8;
  enum { kComputed, kConstant, kPacked };
  for (int kind : {kComputed, kConstant, kPacked}) {
    const auto check = [&](const Shape &a_shape, const Shape &b_shape,
                           const Shape &output,
                           const std::vector<std::pair<int64_t, int64_t>> &of) {
      const Value a = Bytes(&random, type, a_shape);
      const Value b = Bytes(&random, type, b_shape);
      const Value a_zero = Bytes(&random, type, {5});
      const Value b_zero = Bytes(&random, type, {7});
      OpCase op_case("MatMulInteger");
      op_case.Input(a);
      if (kind == kComputed) op_case.Input(b);
      if (kind == kConstant) op_case.Constant(b);
      if (kind == kPacked) op_case.PackedMatrices(b);
      ExpectValue(op_case.Input(a_zero).Input(b_zero),
                  MultiplyMatmulInteger(a, b, a_zero, b_zero, output, of));
    };
    check({3, 5, 6}, {6, 7}, {3, 5, 7}, {{0, 0}, {1, 0}, {2, 0}});
    check({3, 5, 6}, {3, 6, 7}, {3, 5, 7}, {{0, 0}, {1, 1}, {2, 2}});
    check({5, 6}, {2, 6, 7}, {2, 5, 7}, {{0, 0}, {0, 1}});
    check({2, 1, 5, 6}, {3, 6, 7}, {2, 3, 5, 7},
          {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}});
    check({1, 5, 6}, {1, 6, 7}, {1, 5, 7}, {{0, 0}});
    check({3, 5, 6}, {1, 6, 7}, {3, 5, 7}, {{0, 0}, {1, 0}, {2, 0}});
  }
}

TEST(MatMulIntegerTest, NothingToMultiply) {
  Random random(4);
  const auto run = [&](const Shape &a, const Shape &b, const Value &want) {
    ExpectValue(OpCase("MatMulInteger")
                    .Input(Bytes(&random, DataType::kUint8, a))
                    .Input(Bytes(&random, DataType::kInt8, b)),
                want);
  };
  run({2, 0}, {0, 3}, Value::Ints({2, 3}, std::vector<int32_t>(6)));
  run({0, 4}, {4, 3}, Value::Ints({0, 3}, {}));
  run({2, 4}, {4, 0}, Value::Ints({2, 0}, {}));
}

// 33,026 products of 255 * 255 exceed 2^31.
TEST(MatMulIntegerTest, SumsWrapAround) {
  const int64_t depth = 33100;
  const std::vector<uint8_t> most(static_cast<size_t>(depth), 255);
  const int64_t sum = depth * 255 * 255;
  ExpectValue(
      OpCase("MatMulInteger")
          .Input(Value::Of(DataType::kUint8, {1, depth}, most))
          .Input(Value::Of(DataType::kUint8, {depth, 1}, most)),
      Value::Ints({1, 1}, {static_cast<int32_t>(static_cast<uint32_t>(sum))}));
}

// A packed constant is used where it is.
TEST(MatMulIntegerTest, ConstantsAreNotCopied) {
  Random random(7);
  const Value a = Bytes(&random, DataType::kUint8, {3, 6});
  const Value b = Bytes(&random, DataType::kInt8, {6, 20});
  OpCase op_case("MatMulInteger");
  op_case.Input(a).PackedMatrices(b);
  OpSession session(op_case, RunOptions());
  const OpResult result = session.Run(op_case.inputs);
  ASSERT_TRUE(IsOk(result.status)) << result.status.information();
  EXPECT_EQ(result.init_prepared_bytes, 0u);
  EXPECT_EQ(result.prepared_bytes, 0u);
  EXPECT_EQ(
      result.outputs[0].ints(),
      MultiplyMatmulInteger(a, b, kNoZero, kNoZero, {3, 20}, {{0, 0}}).ints());
}

TEST(MatMulIntegerTest, OtherShapesInOneSession) {
  Random random(5);
  const Value b = Bytes(&random, DataType::kInt8, {6, 20});
  OpCase op_case("MatMulInteger");
  op_case.Input(Bytes(&random, DataType::kUint8, {2, 6})).PackedMatrices(b);
  OpSession session(op_case, RunOptions());
  for (int64_t rows : {2, 33, 1}) {
    auto inputs = op_case.inputs;
    inputs[0].value = Bytes(&random, DataType::kUint8, {rows, 6});
    const OpResult result = session.Run(inputs);
    ASSERT_TRUE(IsOk(result.status)) << result.status.information();
    EXPECT_EQ(result.outputs[0].ints(),
              MultiplyMatmulInteger(inputs[0].value, b, kNoZero, kNoZero,
                                    {rows, 20}, {{0, 0}})
                  .ints());
  }
}

TEST(MatMulIntegerTest, Errors) {
  Random random(6);
  const auto bytes = [&](const Shape &shape) {
    return Bytes(&random, DataType::kUint8, shape);
  };
  const auto with = [&](const Shape &a, const Shape &b) {
    return OpCase("MatMulInteger").Input(bytes(a)).Input(bytes(b));
  };
  const auto invalid = MaceStatus::MACE_INVALID_ARGS;
  ExpectError(with({2, 3}, {4, 5}), invalid,
              "cannot multiply [2, 3] by [4, 5]");
  ExpectError(with({3}, {3, 5}), invalid, "[..., M, K] and [..., K, N]");
  ExpectError(with({2, 3}, {3}), invalid, "[..., M, K] and [..., K, N]");
  ExpectError(with({2, 2, 3}, {3, 3, 5}), invalid, "broadcast");
  ExpectError(with({2, 3}, {3, 5}).Input(bytes({3})),
              MaceStatus::MACE_UNSUPPORTED,
              "zero point of a has shape [3]; expected one number or [2]");
  ExpectError(with({2, 3}, {3, 5}).NoInput().Input(bytes({1, 5})),
              MaceStatus::MACE_UNSUPPORTED, "zero point of b");
  ExpectError(with({2, 3}, {3, 5})
                  .Input(Value::Of<int8_t>(DataType::kInt8, Shape{}, {1})),
              invalid, "a is uint8 but its zero point is int8");
}

// Laplace's expansion along the first row of the rows from `row` on, without
// the columns of `used`.
double Expand(const float *m, size_t n, size_t row, unsigned used) {
  if (row == n) return 1;
  double sum = 0;
  double sign = 1;
  for (size_t c = 0; c < n; ++c) {
    if ((used >> c & 1) != 0) continue;
    sum +=
        sign * double{m[row * n + c]} * Expand(m, n, row + 1, used | 1u << c);
    sign = -sign;
  }
  return sum;
}

TEST(DeterminantTest, EqualsLaplacesExpansion) {
  Random random(3);
  for (const Shape &shape :
       {Shape{1, 1}, Shape{2, 2}, Shape{5, 3, 3}, Shape{2, 3, 6, 6},
        Shape{0, 2, 2}, Shape{2, 0, 0}}) {
    const Value x = random.Floats(shape);
    const auto n = static_cast<size_t>(shape.back());
    const Shape output(shape.begin(), shape.rank() - 2);
    std::vector<double> expected;
    for (size_t i = 0; i < static_cast<size_t>(output.Elements()); ++i) {
      expected.push_back(n == 0 ? 1 : Expand(&x.floats()[i * n * n], n, 0, 0));
    }
    // Computed in double, then rounded.
    ExpectFloats(OpCase("Determinant").Input(x), output, expected,
                 {1e-12, 0x1p-23});
  }
}

TEST(DeterminantTest, SingularMatricesAndSwappedRows) {
  ExpectFloats(OpCase("Determinant")
                   .Input(Value::Floats({3, 2, 2}, {0, 1, 1, 0,  //
                                                    1, 2, 2, 4,  //
                                                    0, 0, 0, 0})),
               {3}, {-1, 0, 0}, {0, 0});
}

TEST(DeterminantTest, Errors) {
  ExpectError(OpCase("Determinant").Input(Value::Floats({2}, {1, 2})),
              MaceStatus::MACE_INVALID_ARGS, "no square matrices");
  ExpectError(OpCase("Determinant").Input(Value::Floats({1, 2}, {1, 2})),
              MaceStatus::MACE_INVALID_ARGS,
              "an input of shape [1, 2] has no square matrices");
}

}  // namespace
}  // namespace mace
