// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "mace/ops/testing/indexing.h"
#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectValue;
using op_test::Flat;
using op_test::ForEachIndex;
using op_test::Index;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

struct Mode {
  const char *name;
  int64_t (*reference)(int64_t, int64_t);
};

bool AllOut(int64_t b) { return b < 0 || b > 31; }

const Mode kModes[] = {
    {"AND", [](int64_t a, int64_t b) { return a & b; }},
    {"OR", [](int64_t a, int64_t b) { return a | b; }},
    {"XOR", [](int64_t a, int64_t b) { return a ^ b; }},
    {"SHIFT_LEFT",
     [](int64_t a, int64_t b) {
       return AllOut(b) ? 0 : a * (int64_t{1} << b);
     }},
    {"SHIFT_RIGHT",
     [](int64_t a, int64_t b) { return a >> (AllOut(b) ? 63 : b); }},
};

TEST(BitwiseTest, TwoOperands) {
  Random random(1);
  const Shape output = {2, 3, 5, 70};
  const Shape shapes[] = {output, {70}, {}, {3, 1, 70}, {2, 3, 5, 1}};
  for (const Mode &mode : kModes) {
    for (const Shape &other : shapes) {
      const Value full = random.Ints(output, -200, 200);
      const Value part = random.Ints(other, -8, 40);
      for (const bool swapped : {false, true}) {
        const Value &a = swapped ? part : full;
        const Value &b = swapped ? full : part;
        std::vector<int32_t> expected;
        ForEachIndex(output, [&](const Index &index) {
          expected.push_back(
              static_cast<int32_t>(static_cast<uint32_t>(mode.reference(
                  a.ints()[static_cast<size_t>(Flat(a.shape, index))],
                  b.ints()[static_cast<size_t>(Flat(b.shape, index))]))));
        });
        SCOPED_TRACE(testing::Message() << mode.name);
        ExpectValue(
            OpCase("Bitwise").Input(a).Input(b).String("mode", mode.name),
            Value::Ints(output, expected));
      }
    }
  }
}

TEST(BitwiseTest, HighestBits) {
  const Value a = Value::Ints({3}, {INT32_MIN, INT32_MAX, 1});
  ExpectValue(OpCase("Bitwise")
                  .Input(a)
                  .Input(Value::Ints({3}, {1, 1, 31}))
                  .String("mode", "SHIFT_LEFT"),
              Value::Ints({3}, {0, -2, INT32_MIN}));
  ExpectValue(OpCase("Bitwise")
                  .Input(a)
                  .Input(Value::Ints({3}, {31, INT32_MIN, INT32_MAX}))
                  .String("mode", "SHIFT_RIGHT"),
              Value::Ints({3}, {-1, 0, 0}));
}

TEST(BitwiseTest, WideIntegersFitOrAreAnError) {
  const auto of = [](int32_t a, int32_t bits) {
    return OpCase("Bitwise")
        .Input(Value::Ints({1}, {a}))
        .Input(Value::Ints({1}, {bits}))
        .String("mode", "SHIFT_LEFT")
        .Int("wide", 1);
  };
  ExpectValue(of(1, 30), Value::Ints({1}, {1 << 30}));
  ExpectValue(of(-1, 31), Value::Ints({1}, {INT32_MIN}));
  ExpectValue(of(0, 63), Value::Ints({1}, {0}));
  for (const OpCase &op_case : {of(1, 31), of(-3, 31), of(1, 40)}) {
    ExpectError(op_case, MaceStatus::MACE_INVALID_ARGS,
                "a result exceeds the 32 bits");
  }
}

TEST(BitwiseTest, Not) {
  ExpectValue(OpCase("Bitwise")
                  .Input(Value::Ints({2, 2}, {0, -1, INT32_MIN, 5}))
                  .String("mode", "NOT"),
              Value::Ints({2, 2}, {-1, 0, INT32_MAX, -6}));
}

TEST(BitwiseTest, Errors) {
  const Value x = Value::Ints({2}, {1, 2});
  ExpectError(OpCase("Bitwise").Input(x).String("mode", "AND"),
              MaceStatus::MACE_INVALID_ARGS, "mode AND takes two inputs");
  ExpectError(OpCase("Bitwise").Input(x).Input(x).String("mode", "NOT"),
              MaceStatus::MACE_INVALID_ARGS, "mode NOT takes one input");
  ExpectError(OpCase("Bitwise")
                  .Input(x)
                  .Input(Value::Ints({3}, {1, 2, 3}))
                  .String("mode", "OR"),
              MaceStatus::MACE_INVALID_ARGS, "do not broadcast");
}

}  // namespace
}  // namespace mace
