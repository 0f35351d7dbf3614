// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectValue;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

constexpr DataType kU8 = DataType::kUint8;
constexpr DataType kS8 = DataType::kInt8;

Value Bytes(DataType type, const Shape &shape, Random *random) {
  return Value::Bytes(type, shape, random->Ints(shape, 0, 255).ints());
}

void Check(const Value &x, const Value &table) {
  const auto channels = static_cast<size_t>(
      table.shape.rank() == 2 ? table.shape[0] : int64_t{1});
  std::vector<uint8_t> wanted;
  for (size_t i = 0; i < x.bytes.size(); ++i) {
    wanted.push_back(table.bytes[i % channels * 256 + x.bytes[i]]);
  }
  ExpectValue(OpCase("LookupTable").Input(x).Constant(table),
              Value::Of(table.data_type, x.shape, wanted));
}

// Every byte, in every place of a register and of what is left.
TEST(LookupTableTest, EveryByte) {
  Random random(1);
  for (int64_t shift = 0; shift < 7; ++shift) {
    std::vector<int32_t> all;
    for (int32_t i = 0; i < 700; ++i) {
      all.push_back(static_cast<int32_t>((i * 37 + shift) % 256));
    }
    Check(Value::Bytes(kU8, {700}, all), Bytes(kU8, {256}, &random));
  }
}

TEST(LookupTableTest, TypesAndShapes) {
  Random random(2);
  for (const Shape &shape :
       {Shape{}, Shape{1}, Shape{3, 0}, Shape{63}, Shape{5, 64}, Shape{257},
        Shape{2, 5, 7, 24}, Shape{1, 9, 8, 131}, Shape{100003}}) {
    for (const DataType from : {kU8, kS8}) {
      for (const DataType to : {kU8, kS8}) {
        Check(Bytes(from, shape, &random), Bytes(to, {256}, &random));
      }
    }
  }
}

TEST(LookupTableTest, ATableForEachChannel) {
  Random random(3);
  for (const Shape &shape : {Shape{1}, Shape{0, 3}, Shape{5, 64},
                             Shape{2, 5, 7, 24}, Shape{1, 90, 8, 131}}) {
    Check(Bytes(kU8, shape, &random), Bytes(kS8, {shape.back(), 256}, &random));
  }
}

TEST(LookupTableTest, Errors) {
  Random random(4);
  const auto invalid = MaceStatus::MACE_INVALID_ARGS;
  const auto with = [&random](const Shape &x, const Shape &table) {
    return OpCase("LookupTable")
        .Input(Bytes(kU8, x, &random))
        .Constant(Bytes(kU8, table, &random));
  };
  ExpectError(with({3}, {255}), invalid,
              "the table is [255]; expected [256] or [C, 256]");
  ExpectError(with({3}, {1, 3, 256}), invalid, "[1, 3, 256]");
  ExpectError(with({2, 3}, {2, 256}), invalid,
              "tables for 2 channels, but the input is [2, 3]");
  ExpectError(with({}, {2, 256}), invalid, "tables for 2 channels");
}

}  // namespace
}  // namespace mace
