// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "mace/ops/testing/indexing.h"
#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::AvailableIsas;
using op_test::ExpectError;
using op_test::ExpectFloats;
using op_test::ExpectValue;
using op_test::ExpectValues;
using op_test::Flat;
using op_test::ForEachIndex;
using op_test::Index;
using op_test::OpCase;
using op_test::OpResult;
using op_test::OptionsText;
using op_test::Random;
using op_test::RunOp;
using op_test::RunOptions;
using op_test::Tolerance;
using op_test::Value;

// Every permutation of shapes around the edges of tiles and blocks, with values
// that differ in every byte of an element.
template <typename T>
void ExpectEveryPermutation(DataType type) {
  Random random(14);
  for (const Shape &shape :
       {Shape{}, Shape{5}, Shape{37, 65}, Shape{3, 1, 5}, Shape{2, 9, 7, 33},
        Shape{1, 130, 3, 70}, Shape{2, 3, 1, 4, 5}}) {
    std::vector<T> v(static_cast<size_t>(shape.Elements()));
    for (T &value : v) value = static_cast<T>(random.engine()());
    if (sizeof(T) == 8) {
      for (T &value : v) value ^= static_cast<T>(random.engine()()) << 31;
    }
    const Value x = Value::Of(type, shape, v);
    std::vector<int64_t> perm(shape.rank());
    for (size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int64_t>(i);
    do {
      Shape output;
      for (const int64_t axis : perm) output.Append(shape[axis]);
      std::vector<T> expected;
      ForEachIndex(output, [&](const Index &o) {
        Index in(perm.size());
        for (size_t i = 0; i < perm.size(); ++i) in[perm[i]] = o[i];
        expected.push_back(v[Flat(shape, in)]);
      });
      SCOPED_TRACE(shape.ToString() + " to " + output.ToString());
      ExpectValue(OpCase("Transpose").Input(x).Ints("perm", perm),
                  Value::Of(type, output, expected));
    } while (std::next_permutation(perm.begin(), perm.end()));
  }
}

TEST(TransposeTest, EveryPermutationOf8Bits) {
  ExpectEveryPermutation<uint8_t>(DataType::kUint8);
}
TEST(TransposeTest, EveryPermutationOf16Bits) {
  ExpectEveryPermutation<uint16_t>(DataType::kFloat16);
}
TEST(TransposeTest, EveryPermutationOf32Bits) {
  ExpectEveryPermutation<uint32_t>(DataType::kInt32);
}
TEST(TransposeTest, EveryPermutationOf64Bits) {
  ExpectEveryPermutation<uint64_t>(DataType::kInt64);
}

// Results of 8 MB and more, which do not stay in the cache: with columns and
// rows beside whole tiles, and with columns that begin within a cache line.
TEST(TransposeTest, LargeMatrices) {
  for (const int64_t rows : {64016, 64018}) {
    const Shape shape = {rows, 33};
    std::vector<int32_t> x(static_cast<size_t>(shape.Elements()));
    std::vector<int32_t> y(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<int32_t>(i);
      y[i % 33 * static_cast<size_t>(rows) + i / 33] = x[i];
    }
    const OpCase turn =
        OpCase("Transpose").Input(Value::Ints(shape, x)).Ints("perm", {1, 0});
    RunOptions options;
    for (const CpuIsa isa : AvailableIsas()) {
      options.isa = isa;
      const OpResult result = RunOp(turn, options);
      ASSERT_EQ(result.violation, "");
      ASSERT_TRUE(result.outputs[0].ints() == y) << OptionsText(options);
    }
  }
}

TEST(TransposeTest, TakesEveryElementType) {
  for (const DataType type :
       {DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16,
        DataType::kInt32, DataType::kInt8, DataType::kUint8, DataType::kBool,
        DataType::kInt16, DataType::kInt64}) {
    SCOPED_TRACE(DataTypeName(type));
    Value x;
    x.data_type = type;
    x.shape = {2, 3};
    const size_t size = DataTypeSize(type);
    for (size_t i = 0; i < 6 * size; ++i) x.bytes.push_back(i / size % 2);
    Value y = x;
    y.shape = {3, 2};
    for (size_t i = 0; i < y.bytes.size(); ++i) {
      const size_t element = i / size;
      y.bytes[i] = x.bytes[(element % 2 * 3 + element / 2) * size];
    }
    ExpectValue(OpCase("Transpose").Input(x).Ints("perm", {1, 0}), y);
  }
}

// As for the colours of an image, which have their own code; with remainders
// and in several tasks.
TEST(TransposeTest, FewChannels) {
  for (const int64_t channels : {2, 3, 4, 5}) {
    for (const int64_t pixels : {1, 19, 40000}) {
      std::vector<int32_t> from;
      std::vector<int32_t> to;
      for (int64_t n = 0; n < 2; ++n) {
        for (int64_t i = 0; i < pixels * channels; ++i) {
          from.push_back(static_cast<int32_t>(n * pixels * channels + i));
          to.push_back(static_cast<int32_t>(
              n * pixels * channels + i % pixels * channels + i / pixels));
        }
      }
      const Value x = Value::Ints({2, pixels, channels}, from);
      const Value y = Value::Ints({2, channels, pixels}, to);
      ExpectValue(OpCase("Transpose").Input(x).Ints("perm", {0, 2, 1}), y);
      ExpectValue(OpCase("Transpose").Input(y).Ints("perm", {0, 2, 1}), x);
    }
  }
}

TEST(TransposeTest, MovesFloatBitsUntouched) {
  const float nan = std::nanf("1");
  ExpectValue(OpCase("Transpose")
                  .Input(Value::Floats({2, 2}, {nan, -0.0f, 1e-45f, 2}))
                  .Ints("perm", {1, 0}),
              Value::Floats({2, 2}, {nan, 1e-45f, -0.0f, 2}));
}

TEST(TransposeTest, Errors) {
  const Value x = Value::Floats({2, 3}, std::vector<float>(6));
  for (const std::vector<int64_t> &perm :
       {std::vector<int64_t>{0}, {0, 0}, {0, 2}, {0, 1, 2}}) {
    ExpectError(OpCase("Transpose").Input(x).Ints("perm", perm),
                MaceStatus::MACE_INVALID_ARGS, "each of the 2 axes");
  }
}

}  // namespace
}  // namespace mace
