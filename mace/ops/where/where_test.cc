// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectValue;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

Value RandomBools(Random *random, const Shape &shape) {
  std::vector<uint8_t> values;
  for (int64_t i = 0; i < shape.Elements(); ++i) {
    values.push_back(static_cast<uint8_t>(random->Int(0, 1)));
  }
  return Value::Bools(shape, values);
}

// The position in `x` of element `at` of an output of shape `y`.
size_t From(const Shape &x, const Shape &y, int64_t at) {
  int64_t index = 0;
  int64_t stride = 1;
  for (size_t i = 0; i < y.rank(); ++i) {
    const int64_t position = at % y[y.rank() - 1 - i];
    at /= y[y.rank() - 1 - i];
    if (i >= x.rank()) continue;
    const int64_t dim = x[x.rank() - 1 - i];
    if (dim != 1) index += position * stride;
    stride *= dim;
  }
  return static_cast<size_t>(index);
}

void Check(Random *random,
           const Shape &c,
           const Shape &a,
           const Shape &b,
           const Shape &y) {
  const Value condition = RandomBools(random, c);
  const Value floats[] = {random->Floats(a), random->Floats(b)};
  const Value ints[] = {random->Ints(a, -9, 9), random->Ints(b, -9, 9)};
  const std::vector<uint8_t> holds = condition.As<uint8_t>();
  std::vector<float> wanted_floats;
  std::vector<int32_t> wanted_ints;
  for (int64_t i = 0; i < y.Elements(); ++i) {
    const bool first = holds[From(c, y, i)] != 0;
    const size_t at = From(first ? a : b, y, i);
    wanted_floats.push_back(floats[first ? 0 : 1].floats()[at]);
    wanted_ints.push_back(ints[first ? 0 : 1].ints()[at]);
  }
  ExpectValue(
      OpCase("Where").Input(condition).Input(floats[0]).Input(floats[1]),
      Value::Floats(y, wanted_floats));
  ExpectValue(OpCase("Where").Input(condition).Input(ints[0]).Input(ints[1]),
              Value::Ints(y, wanted_ints));
}

TEST(WhereTest, EqualShapes) {
  Random random(1);
  for (const Shape &shape : {Shape{}, Shape{1}, Shape{37}, Shape{2, 3, 5},
                             Shape{0, 4}, Shape{2, 1, 3, 1, 5}}) {
    Check(&random, shape, shape, shape, shape);
  }
}

TEST(WhereTest, Broadcasts) {
  Random random(2);
  Check(&random, {4, 5}, {}, {4, 5}, {4, 5});
  Check(&random, {4, 5}, {1}, {1, 1}, {4, 5});
  Check(&random, {4, 1}, {4, 5}, {5}, {4, 5});
  Check(&random, {}, {3, 1}, {1, 7}, {3, 7});
  Check(&random, {2, 1, 3, 1}, {4, 1, 5}, {3, 5}, {2, 4, 3, 5});
  Check(&random, {1, 1, 6, 6}, {2, 3, 6, 6}, {}, {2, 3, 6, 6});
  Check(&random, {3, 1}, {0}, {1}, {3, 0});
}

// Long runs of equal elements in a constant condition are copied as a whole.
TEST(WhereTest, RunsOfAConstant) {
  Random random(4);
  const Shape shape = {3, 4, 300};
  for (const int64_t length : {1, 63, 200, 300, 301}) {
    for (const Shape &c : {Shape{3, 4, 300}, Shape{4, 300}, Shape{1, 1, 300},
                           Shape{3, 1, 300}, Shape{3, 4, 1}}) {
      std::vector<uint8_t> holds;
      for (int64_t i = 0; i < c.Elements(); ++i) {
        holds.push_back(i / length % 2 == 1);
      }
      const Value condition = Value::Bools(c, holds);
      for (const Shape &b : {shape, Shape{}, Shape{4, 1}}) {
        const Value x = random.Floats(shape);
        const Value y =
            b.rank() == 0 ? Value::Floats({}, {0.0f}) : random.Floats(b);
        std::vector<float> first;
        std::vector<float> second;
        for (int64_t i = 0; i < shape.Elements(); ++i) {
          const bool is_x = holds[From(c, shape, i)] != 0;
          const float own = x.floats()[static_cast<size_t>(i)];
          const float other = y.floats()[From(b, shape, i)];
          first.push_back(is_x ? own : other);
          second.push_back(is_x ? other : own);
        }
        ExpectValue(OpCase("Where").Constant(condition).Input(x).Input(y),
                    Value::Floats(shape, first));
        ExpectValue(OpCase("Where").Constant(condition).Input(y).Input(x),
                    Value::Floats(shape, second));
      }
    }
  }
}

TEST(WhereTest, Errors) {
  Random random(3);
  auto make = [&](const Value &c, const Value &a, const Value &b) {
    return OpCase("Where").Input(c).Input(a).Input(b);
  };
  const Value c = RandomBools(&random, {2, 3});
  ExpectError(make(c, random.Floats({2, 3}), random.Floats({2, 4})),
              MaceStatus::MACE_INVALID_ARGS, "do not broadcast");
  ExpectError(make(c, random.Floats({2, 3}), random.Ints({2, 3}, 0, 1)),
              MaceStatus::MACE_INVALID_ARGS, "a is float32 but b is int32");
}

}  // namespace
}  // namespace mace
