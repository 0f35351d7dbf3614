// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectValue;
using op_test::OpCase;
using op_test::OpResult;
using op_test::OpSession;
using op_test::Random;
using op_test::RunOptions;
using op_test::Value;

Value Bytes(Random *random, DataType type, const Shape &shape) {
  std::vector<uint8_t> bytes;
  for (int64_t i = 0; i < shape.Elements(); ++i) {
    bytes.push_back(static_cast<uint8_t>(random->Int(0, 255)));
  }
  return Value::Of(type, shape, bytes);
}

int64_t At(const Value &v, int64_t i) {
  const uint8_t byte = v.bytes[static_cast<size_t>(i)];
  return v.data_type == DataType::kUint8 ? int64_t{byte}
                                         : int64_t{static_cast<int8_t>(byte)};
}
int64_t ZeroAt(const Value &v, int64_t i) {
  return At(v, v.bytes.size() == 1 ? 0 : i);
}

// `batches` lists the matrix of a and of b for every matrix of the result.
Value Multiply(const Value &a,
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
          sum += (At(a, (i * rows + m) * depth + k) - ZeroAt(a_zero, m)) *
                 (At(b, (j * depth + k) * columns + n) - ZeroAt(b_zero, n));
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
        const Value want = Multiply(a, b, a_zero, b_zero, {19, 45}, {{0, 0}});
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
            Multiply(a, b, kNoZero, b_zero, {19, 45}, {{0, 0}}));
        ExpectValue(OpCase("MatMulInteger").Input(a).Constant(b),
                    Multiply(a, b, kNoZero, kNoZero, {19, 45}, {{0, 0}}));
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
    const Value want =
        Multiply(a, b, zero, kNoZero, {size[0], size[2]}, {{0, 0}});
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
                  Multiply(a, b, a_zero, b_zero, output, of));
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
  EXPECT_EQ(result.outputs[0].ints(),
            Multiply(a, b, kNoZero, kNoZero, {3, 20}, {{0, 0}}).ints());
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
    EXPECT_EQ(result.outputs[0].ints(), Multiply(inputs[0].value, b, kNoZero,
                                                 kNoZero, {rows, 20}, {{0, 0}})
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

}  // namespace
}  // namespace mace
