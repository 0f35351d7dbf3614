// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
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
  std::function<int32_t(int32_t, int32_t)> combine;
};

const Mode kModes[] = {
    {"SET", [](int32_t, int32_t v) { return v; }},
    {"ADD", [](int32_t old, int32_t v) { return old + v; }},
    {"MUL", [](int32_t old, int32_t v) { return old * v; }},
    {"MIN", [](int32_t old, int32_t v) { return std::min(old, v); }},
    {"MAX", [](int32_t old, int32_t v) { return std::max(old, v); }},
};

std::vector<float> ToFloats(const std::vector<int32_t> &x) {
  return std::vector<float>(x.begin(), x.end());
}

// Integers, and floats whose results are exact.
void ExpectBoth(const OpCase &op_case,
                const Value &data,
                const Value &indices,
                const Value &updates,
                const std::vector<int32_t> &expected) {
  OpCase ints = op_case;
  ExpectValue(ints.Input(data).Input(indices).Input(updates),
              Value::Ints(data.shape, expected));
  OpCase floats = op_case;
  floats.Input(Value::Floats(data.shape, ToFloats(data.ints())))
      .Input(indices)
      .Input(Value::Floats(updates.shape, ToFloats(updates.ints())));
  ExpectValue(floats, Value::Floats(data.shape, ToFloats(expected)));
}

// Every number of axes, with positions that repeat.
TEST(ScatterTest, Slices) {
  Random random(19);
  const Shape shape = {3, 5, 2, 70};
  for (const Mode &mode : kModes) {
    for (size_t axes = 0; axes <= shape.rank(); ++axes) {
      for (const int64_t count : {0, 1, 6}) {
        const Value data = random.Ints(shape, -3, 3);
        Shape index_shape = {count, static_cast<int64_t>(axes)};
        const Value indices = random.Ints(index_shape, -2, 1);
        Shape update_shape = {count};
        for (size_t i = axes; i < shape.rank(); ++i) {
          update_shape.Append(shape[i]);
        }
        // Positive, so that no product is -0.
        const Value updates = random.Ints(update_shape, 1, 3);
        std::vector<int32_t> expected = data.ints();
        ForEachIndex(update_shape, [&](const Index &index) {
          Index to(shape.rank(), 0);
          for (size_t i = 0; i < shape.rank(); ++i) {
            if (i >= axes) {
              to[i] = index[1 + i - axes];
              continue;
            }
            const int32_t p = indices.ints()[static_cast<size_t>(
                Flat(index_shape, {index[0], static_cast<int64_t>(i)}))];
            to[i] = p < 0 ? p + shape[i] : p;
          }
          int32_t &element = expected[static_cast<size_t>(Flat(shape, to))];
          element = mode.combine(
              element,
              updates.ints()[static_cast<size_t>(Flat(update_shape, index))]);
        });
        SCOPED_TRACE(testing::Message() << mode.name << " " << axes);
        ExpectBoth(OpCase("Scatter").String("mode", mode.name), data, indices,
                   updates, expected);
      }
    }
  }
}

TEST(ScatterTest, Elements) {
  Random random(20);
  for (const Mode &mode : kModes) {
    for (const Shape &shape : {Shape{5}, Shape{4, 150}, Shape{3, 5, 2, 6}}) {
      for (size_t axis = 0; axis < shape.rank(); ++axis) {
        // Shorter than data in the other axes, longer in this one; empty.
        for (const int64_t along : {1, 9, 0}) {
          Shape picked;
          for (size_t i = 0; i < shape.rank(); ++i) {
            picked.Append(i == axis ? along
                                    : std::max<int64_t>(shape[i] - 1, 1));
          }
          const Value data = random.Ints(shape, -3, 3);
          const auto n = static_cast<int32_t>(shape[axis]);
          const Value indices = random.Ints(picked, -n, n - 1);
          const Value updates = random.Ints(picked, 1, 3);
          std::vector<int32_t> expected = data.ints();
          ForEachIndex(picked, [&](const Index &index) {
            const auto from = static_cast<size_t>(Flat(picked, index));
            Index to = index;
            const int32_t p = indices.ints()[from];
            to[axis] = p < 0 ? p + n : p;
            int32_t &element = expected[static_cast<size_t>(Flat(shape, to))];
            element = mode.combine(element, updates.ints()[from]);
          });
          SCOPED_TRACE(testing::Message() << mode.name << " " << axis);
          ExpectBoth(OpCase("Scatter")
                         .String("form", "ELEMENTS")
                         .String("mode", mode.name)
                         .Int("axis", static_cast<int64_t>(axis)),
                     data, indices, updates, expected);
        }
      }
    }
  }
}

TEST(ScatterTest, Bytes) {
  for (const DataType type : {DataType::kUint8, DataType::kInt8}) {
    const int32_t low = op_test::LeastByte(type);
    ExpectValue(OpCase("Scatter")
                    .Input(Value::Bytes(type, {3}, {low, low + 1, low + 2}))
                    .Input(Value::Ints({1, 1}, {-1}))
                    .Input(Value::Bytes(type, {1}, {low + 255})),
                Value::Bytes(type, {3}, {low, low + 1, low + 255}));
  }
}

TEST(ScatterTest, NanRemains) {
  const float nan = std::nanf("");
  for (const char *mode : {"MIN", "MAX", "ADD"}) {
    ExpectValue(OpCase("Scatter")
                    .Input(Value::Floats({3}, {nan, 1, 2}))
                    .Input(Value::Ints({2, 1}, {0, 1}))
                    .Input(Value::Floats({2}, {1, nan}))
                    .String("mode", mode),
                Value::Floats({3}, {nan, nan, 2}));
  }
}

TEST(ScatterTest, IntegersWrapAround) {
  ExpectValue(OpCase("Scatter")
                  .Input(Value::Ints({1}, {INT32_MAX}))
                  .Input(Value::Ints({1, 1}, {0}))
                  .Input(Value::Ints({1}, {1}))
                  .String("mode", "ADD"),
              Value::Ints({1}, {INT32_MIN}));
}

TEST(ScatterTest, WideIntegersFitOrAreAnError) {
  const auto of = [](const char *mode, int32_t update) {
    return OpCase("Scatter")
        .Input(Value::Ints({2}, {INT32_MAX, 7}))
        .Input(Value::Ints({1, 1}, {0}))
        .Input(Value::Ints({1}, {update}))
        .String("mode", mode)
        .Int("wide", 1);
  };
  ExpectValue(of("ADD", -1), Value::Ints({2}, {INT32_MAX - 1, 7}));
  ExpectValue(of("MUL", -1), Value::Ints({2}, {-INT32_MAX, 7}));
  ExpectValue(of("SET", 1), Value::Ints({2}, {1, 7}));
  for (const char *mode : {"ADD", "MUL"}) {
    ExpectError(of(mode, 2), MaceStatus::MACE_INVALID_ARGS,
                "a result exceeds the 32 bits");
  }
}

TEST(ScatterTest, IndexOutOfRangeIsAnErrorOfTheRun) {
  for (const char *form : {"SLICES", "ELEMENTS"}) {
    const bool slices = std::string(form) == "SLICES";
    for (const int32_t index : {3, -4, INT32_MIN, INT32_MAX}) {
      ExpectError(
          OpCase("Scatter")
              .Input(Value::Floats({3}, {1, 2, 3}))
              .Input(Value::Ints(slices ? Shape{2, 1} : Shape{2}, {0, index}))
              .Input(Value::Floats({2}, {4, 5}))
              .String("form", form),
          MaceStatus::MACE_INVALID_ARGS, "index " + std::to_string(index));
    }
  }
}

TEST(ScatterTest, Errors) {
  const Value x = Value::Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const Value row = Value::Floats({3}, {1, 2, 3});
  ExpectError(OpCase("Scatter").Input(x).Input(Value::Ints({}, {0})).Input(row),
              MaceStatus::MACE_INVALID_ARGS, "do not fit data");
  ExpectError(
      OpCase("Scatter").Input(x).Input(Value::Ints({2}, {0, 0})).Input(row),
      MaceStatus::MACE_INVALID_ARGS,
      "updates of shape [3] do not fit indices of shape [2]");
  ExpectError(OpCase("Scatter")
                  .Input(x)
                  .Input(Value::Ints({3}, {0, 0, 0}))
                  .Input(row)
                  .String("form", "ELEMENTS"),
              MaceStatus::MACE_INVALID_ARGS, "must have the same rank");
  ExpectError(OpCase("Scatter")
                  .Input(x)
                  .Input(Value::Ints({1, 1}, {0}))
                  .Input(row)
                  .String("form", "ELEMENTS"),
              MaceStatus::MACE_INVALID_ARGS, "do not have the shape [1, 1]");
  ExpectError(OpCase("Scatter")
                  .Input(x)
                  .Input(Value::Ints({1, 1}, {0}))
                  .Input(row)
                  .String("form", "ELEMENTS")
                  .Int("axis", 2),
              MaceStatus::MACE_INVALID_ARGS, "axis 2 is out of range");
  ExpectError(OpCase("Scatter")
                  .Input(Value::Bytes(DataType::kUint8, {1}, {1}))
                  .Input(Value::Ints({1, 1}, {0}))
                  .Input(Value::Bytes(DataType::kUint8, {1}, {1}))
                  .String("mode", "ADD"),
              MaceStatus::MACE_UNSUPPORTED, "mode ADD of 8-bit integers");
}

}  // namespace
}  // namespace mace
