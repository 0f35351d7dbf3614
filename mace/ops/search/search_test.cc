// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "mace/ops/testing/indexing.h"
#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectValue;
using op_test::ExpectValues;
using op_test::Flat;
using op_test::ForEachIndex;
using op_test::Index;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

OpCase MakeCase(const Value &x, int64_t axis, bool smallest, bool last) {
  return OpCase("ArgMax")
      .Input(x)
      .Int("axis", axis)
      .String("mode", smallest ? "MIN" : "MAX")
      .Int("last", last ? 1 : 0);
}

void CheckArgMax(const Value &x, int64_t axis) {
  const std::vector<float> v = x.floats();
  const auto at = static_cast<size_t>(
      axis < 0 ? axis + static_cast<int64_t>(x.shape.rank()) : axis);
  Shape output = x.shape;
  output[at] = 1;
  for (const bool smallest : {false, true}) {
    for (const bool last : {false, true}) {
      std::vector<int32_t> expected;
      ForEachIndex(output, [&](Index index) {
        int64_t best = 0;
        float most = 0;
        for (int64_t i = 0; i < x.shape[at]; ++i) {
          index[at] = i;
          const float value = v[Flat(x.shape, index)];
          const bool better = smallest ? value < most : value > most;
          if (i == 0 || better || (last && value == most)) {
            best = i;
            most = value;
          }
        }
        expected.push_back(static_cast<int32_t>(best));
      });
      SCOPED_TRACE(x.shape.ToString() + " axis " + std::to_string(axis) +
                   (smallest ? " smallest" : " largest") +
                   (last ? " last" : " first"));
      ExpectValue(MakeCase(x, axis, smallest, last),
                  Value::Ints(output, expected));
    }
  }
}

// Integers from a small range, so that there are ties.
Value WithTies(Random *random, const Shape &shape) {
  std::vector<float> values;
  for (const int32_t x : random->Ints(shape, -3, 3).ints()) {
    values.push_back(static_cast<float>(x));
  }
  return Value::Floats(shape, values);
}

TEST(ArgMaxTest, EveryAxisAndLength) {
  Random random(61);
  for (const int64_t length : {1, 2, 7, 15, 16, 31, 32, 33, 40, 100, 1001}) {
    CheckArgMax(WithTies(&random, {length}), 0);
    CheckArgMax(WithTies(&random, {3, length}), -1);
    CheckArgMax(random.Floats({2, length, 5}), 1);
    CheckArgMax(WithTies(&random, {2, length, 17}), 1);
    CheckArgMax(WithTies(&random, {length, 33}), -2);
  }
  CheckArgMax(WithTies(&random, {2, 3, 300}), 1);
  CheckArgMax(WithTies(&random, {2, 3, 4, 5}), 2);
}

TEST(ArgMaxTest, NanIsMoreExtremeThanAnyNumber) {
  const float nan = std::nanf("");
  for (const int64_t length : {4, 40}) {
    std::vector<float> values(static_cast<size_t>(length), 1.0f);
    values[0] = INFINITY;
    values[1] = -INFINITY;
    values[2] = values[3] = nan;
    for (const bool smallest : {false, true}) {
      for (const bool last : {false, true}) {
        const Value x = Value::Floats({length}, values);
        const int32_t found = last ? 3 : 2;
        ExpectValue(MakeCase(x, 0, smallest, last), Value::Ints({1}, {found}));
        Value column = x;
        column.shape = {length, 1};
        ExpectValue(MakeCase(column, 0, smallest, last),
                    Value::Ints({1, 1}, {found}));
      }
    }
  }
  ExpectValue(
      MakeCase(Value::Floats({2, 2}, {1, nan, nan, 1}), 0, false, false),
      Value::Ints({1, 2}, {1, 0}));
}

TEST(ArgMaxTest, NothingAndErrors) {
  ExpectValue(MakeCase(Value::Floats({0, 3}, {}), 1, false, false),
              Value::Ints({0, 1}, {}));
  const auto invalid = MaceStatus::MACE_INVALID_ARGS;
  ExpectError(MakeCase(Value::Floats({0, 3}, {}), 0, false, false), invalid,
              "has length 0");
  const Value x = Value::Floats({2, 3}, std::vector<float>(6));
  ExpectError(MakeCase(x, 2, false, false), invalid, "not within [-2, 2)");
  ExpectError(OpCase("ArgMax").Input(x), invalid, "axis");
}

OpCase TopKCase(const Value &x, int64_t k, int64_t axis, bool largest) {
  return OpCase("TopK", 2)
      .Input(x)
      .Int("k", k)
      .Int("axis", axis)
      .Int("largest", largest ? 1 : 0);
}

// Sorts every line along the axis.
template <typename T>
void Expect(const OpCase &op_case,
            const Shape &shape,
            const std::vector<T> &x,
            int64_t k,
            size_t axis,
            bool largest) {
  Shape picked = shape;
  picked[axis] = k;
  std::vector<T> values(static_cast<size_t>(picked.Elements()));
  std::vector<int32_t> indices(values.size());
  Shape lines = picked;
  lines[axis] = k > 0 ? 1 : 0;
  ForEachIndex(lines, [&](Index index) {
    std::vector<std::pair<T, int32_t>> line;
    for (int64_t i = 0; i < shape[axis]; ++i) {
      index[axis] = i;
      line.emplace_back(x[static_cast<size_t>(Flat(shape, index))],
                        static_cast<int32_t>(i));
    }
    std::sort(line.begin(), line.end(), [=](const auto &a, const auto &b) {
      if (a.first == b.first) return a.second < b.second;
      return largest ? a.first > b.first : a.first < b.first;
    });
    for (int64_t i = 0; i < k; ++i) {
      index[axis] = i;
      // Flat ignores the position along an axis of length 1.
      const auto to = static_cast<size_t>(Flat(picked, index));
      values[to] = line[static_cast<size_t>(i)].first;
      indices[to] = line[static_cast<size_t>(i)].second;
    }
  });
  Value first;
  if constexpr (std::is_same_v<T, float>) {
    first = Value::Floats(picked, values);
  } else {
    first = Value::Ints(picked, values);
  }
  ExpectValues(op_case, {first, Value::Ints(picked, indices)});
}

TEST(TopKTest, EveryAxis) {
  Random random(7);
  for (const Shape &shape :
       {Shape{1}, Shape{300}, Shape{3, 700}, Shape{2, 130, 5},
        Shape{2, 1, 4, 33}, Shape{0, 3}}) {
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
      for (const int64_t wanted : {0, 1, 5, 100, 1000}) {
        const int64_t k = std::min(wanted, shape[axis]);
        for (const bool largest : {true, false}) {
          SCOPED_TRACE(testing::Message()
                       << shape.ToString() << " axis " << axis << " k " << k
                       << " " << largest);
          const Value x = random.Floats(shape);
          Expect(TopKCase(x, k, static_cast<int64_t>(axis), largest), shape,
                 x.floats(), k, axis, largest);
          // Many equal elements.
          const Value n = random.Ints(shape, -3, 3);
          Expect(TopKCase(n, k, static_cast<int64_t>(axis), largest), shape,
                 n.ints(), k, axis, largest);
        }
      }
    }
  }
}

// Each element is above all before it, or below.
TEST(TopKTest, SortedInputs) {
  std::vector<float> up;
  for (int i = 0; i < 1000; ++i) up.push_back(static_cast<float>(i - 500));
  for (const bool largest : {true, false}) {
    Expect(TopKCase(Value::Floats({1000}, up), 10, 0, largest), {1000}, up, 10,
           0, largest);
  }
}

TEST(TopKTest, SpecialNumbers) {
  const float nan = std::nanf("");
  const Value x = Value::Floats({6}, {-0.0f, nan, -HUGE_VALF, 0, HUGE_VALF, 1});
  ExpectValues(TopKCase(x, 6, 0, true),
               {Value::Floats({6}, {nan, HUGE_VALF, 1, -0.0f, 0, -HUGE_VALF}),
                Value::Ints({6}, {1, 4, 5, 0, 3, 2})});
  ExpectValues(TopKCase(x, 6, 0, false),
               {Value::Floats({6}, {-HUGE_VALF, -0.0f, 0, 1, HUGE_VALF, nan}),
                Value::Ints({6}, {2, 0, 3, 5, 4, 1})});
  const Value n = Value::Ints({3}, {INT32_MIN, INT32_MAX, 0});
  ExpectValues(TopKCase(n, 3, 0, true),
               {Value::Ints({3}, {INT32_MAX, 0, INT32_MIN}),
                Value::Ints({3}, {1, 2, 0})});
}

// A number in place of the attribute.
TEST(TopKTest, Counts) {
  const Value x = Value::Floats({2, 3}, {3, 5, 4, 9, 7, 8});
  const auto of = [&x](int32_t count) {
    return OpCase("TopK", 2)
        .Input(x)
        .Known(Value::Ints({1}, {count}))
        .Int("k", 1);
  };
  ExpectValues(of(2), {Value::Floats({2, 2}, {5, 4, 9, 8}),
                       Value::Ints({2, 2}, {1, 2, 0, 2})});
  ExpectValues(of(3), {Value::Floats({2, 3}, {5, 4, 3, 9, 8, 7}),
                       Value::Ints({2, 3}, {1, 2, 0, 0, 2, 1})});
  ExpectValues(of(0), {Value::Floats({2, 0}, {}), Value::Ints({2, 0}, {})});
  ExpectError(of(4), MaceStatus::MACE_INVALID_ARGS, "k is 4, but axis 1");
  ExpectError(of(-1), MaceStatus::MACE_INVALID_ARGS, "count is -1");
  ExpectError(
      OpCase("TopK", 2).Input(x).Known(Value::Ints({2}, {1, 1})).Int("k", 1),
      MaceStatus::MACE_INVALID_ARGS, "count has the shape [2]");
}

TEST(TopKTest, Errors) {
  const Value x = Value::Floats({2}, {1, 2});
  ExpectError(OpCase("TopK", 2).Input(x), MaceStatus::MACE_INVALID_ARGS, "k");
  ExpectError(TopKCase(x, 3, 0, true), MaceStatus::MACE_INVALID_ARGS,
              "k is 3, but axis 0 of [2] has length 2");
  ExpectError(TopKCase(x, 1, 1, true), MaceStatus::MACE_INVALID_ARGS,
              "axis 1 is out of range");
}

OpCase UniqueCase(const Value &input, bool sorted) {
  return OpCase("Unique", 5).Input(input).Int("sorted", sorted ? 1 : 0);
}

// Collects the places of each row in a map, which is sorted.
void CheckUnique(const Value &input, bool sorted) {
  const int64_t count = input.shape[0];
  const int64_t size = input.shape.Elements(1, input.shape.rank());
  const std::vector<int32_t> all = input.ints();
  const auto row = [&](int64_t i) {
    return std::vector<int32_t>(all.begin() + i * size,
                                all.begin() + (i + 1) * size);
  };
  std::map<std::vector<int32_t>, std::vector<int32_t>> places;
  for (int64_t i = 0; i < count; ++i) {
    places[row(i)].push_back(static_cast<int32_t>(i));
  }
  std::map<std::vector<int32_t>, std::vector<int32_t>> groups;
  for (const auto &[key, rows] : places) {
    groups[sorted ? key : std::vector<int32_t>{rows[0]}] = rows;
  }
  std::vector<int32_t> values;
  std::vector<int32_t> indices;
  std::vector<int32_t> inverse(static_cast<size_t>(count));
  std::vector<int32_t> counts;
  for (const auto &[key, rows] : groups) {
    for (const int32_t i : rows) {
      inverse[static_cast<size_t>(i)] = static_cast<int32_t>(counts.size());
    }
    const std::vector<int32_t> first = row(rows[0]);
    values.insert(values.end(), first.begin(), first.end());
    indices.push_back(rows[0]);
    counts.push_back(static_cast<int32_t>(rows.size()));
  }
  const auto found = static_cast<int32_t>(counts.size());
  values.resize(all.size(), 0);
  indices.resize(static_cast<size_t>(count), 0);
  counts.resize(static_cast<size_t>(count), 0);
  ExpectValues(UniqueCase(input, sorted),
               {Value::Ints(input.shape, values), Value::Ints({count}, indices),
                Value::Ints({count}, inverse), Value::Ints({count}, counts),
                Value::Ints({1}, {found})});
}

TEST(UniqueOpTest, FindsDifferentRows) {
  Random random(1);
  for (const Shape &shape :
       {Shape{9}, Shape{1}, Shape{0}, Shape{200}, Shape{20, 2}, Shape{30, 1, 3},
        Shape{4, 0}, Shape{0, 3}}) {
    for (const int32_t high : {-2, 0, 500}) {
      for (const bool sorted : {false, true}) {
        SCOPED_TRACE(testing::Message()
                     << shape.ToString() << " " << high << " " << sorted);
        CheckUnique(random.Ints(shape, -2, high), sorted);
      }
    }
  }
}

TEST(UniqueOpTest, ExtremeIntegersAreInOrder) {
  CheckUnique(Value::Ints({5}, {0, INT32_MAX, INT32_MIN, -1, INT32_MAX}), true);
}

TEST(UniqueOpTest, FloatsOfOneValueAreEqual) {
  const Value x = Value::Floats(
      {7}, {1.5f, NAN, -0.0f, 0.0f, -HUGE_VALF, -std::fabs(NAN), HUGE_VALF});
  ExpectValues(
      UniqueCase(x, true),
      {Value::Floats({7}, {-HUGE_VALF, -0.0f, 1.5f, HUGE_VALF, NAN, 0, 0}),
       Value::Ints({7}, {4, 2, 0, 6, 1, 0, 0}),
       Value::Ints({7}, {2, 4, 1, 1, 0, 4, 3}),
       Value::Ints({7}, {1, 2, 1, 1, 2, 0, 0}), Value::Ints({1}, {5})});
  ExpectValues(
      UniqueCase(x, false),
      {Value::Floats({7}, {1.5f, NAN, -0.0f, -HUGE_VALF, HUGE_VALF, 0, 0}),
       Value::Ints({7}, {0, 1, 2, 4, 6, 0, 0}),
       Value::Ints({7}, {0, 1, 2, 2, 3, 1, 4}),
       Value::Ints({7}, {1, 2, 2, 1, 1, 0, 0}), Value::Ints({1}, {5})});
}

TEST(UniqueOpTest, Errors) {
  ExpectError(OpCase("Unique", 5).Input(Value::Ints({}, {1})),
              MaceStatus::MACE_INVALID_ARGS, "the input has no dimensions");
}

// Divides the index of each element that is not 0 by the dimensions behind.
void CheckNonZero(const Value &input, const std::vector<bool> &counts) {
  const Shape &shape = input.shape;
  const int64_t most = shape.Elements();
  const auto rank = static_cast<int64_t>(shape.rank());
  std::vector<int32_t> positions(static_cast<size_t>(rank * most), 0);
  int32_t found = 0;
  for (int64_t i = 0; i < most; ++i) {
    if (!counts[static_cast<size_t>(i)]) continue;
    for (int64_t d = 0; d < rank; ++d) {
      const auto axis = static_cast<size_t>(d);
      positions[static_cast<size_t>(d * most + found)] = static_cast<int32_t>(
          i / shape.Elements(axis + 1, shape.rank()) % shape[axis]);
    }
    ++found;
  }
  ExpectValues(
      OpCase("NonZero", 2).Input(input),
      {Value::Ints({rank, most}, positions), Value::Ints({1}, {found})});
}

const Shape kShapes[] = {{7},          {1},       {0},       {3, 5},
                         {2, 3, 4, 5}, {3, 0, 2}, {2, 1, 1}, {300, 2}};

TEST(NonZeroOpTest, FindsElementsOfEveryType) {
  Random random(1);
  for (const Shape &shape : kShapes) {
    for (const int32_t high : {0, 1, 9}) {
      SCOPED_TRACE(testing::Message() << shape.ToString() << " " << high);
      const Value ints = random.Ints(shape, high == 9 ? 1 : 0, high);
      std::vector<bool> counts;
      std::vector<float> floats;
      std::vector<uint8_t> bools;
      for (const int32_t v : ints.ints()) {
        counts.push_back(v != 0);
        floats.push_back(static_cast<float>(v));
        bools.push_back(v != 0 ? 1 : 0);
      }
      CheckNonZero(ints, counts);
      CheckNonZero(Value::Floats(shape, floats), counts);
      CheckNonZero(Value::Bools(shape, bools), counts);
      CheckNonZero(Value::Bytes(DataType::kUint8, shape, ints.ints()), counts);
      CheckNonZero(Value::Bytes(DataType::kInt8, shape, ints.ints()), counts);
    }
  }
}

TEST(NonZeroOpTest, NanIsNotZeroAndMinusZeroIs) {
  CheckNonZero(Value::Floats({5}, {NAN, -0.0f, 1e-40f, 0.0f, -HUGE_VALF}),
               {true, false, true, false, true});
}

TEST(NonZeroOpTest, Errors) {
  ExpectError(OpCase("NonZero", 2).Input(Value::Ints({}, {1})),
              MaceStatus::MACE_INVALID_ARGS, "the input has no dimensions");
}

}  // namespace
}  // namespace mace
