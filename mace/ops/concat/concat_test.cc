// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

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

TEST(ConcatTest, JoinsAlongEveryAxis) {
  Random random(16);
  for (const Shape &shape : {Shape{4}, Shape{3, 5}, Shape{2, 3, 4, 5},
                             Shape{1, 2, 1, 3, 2}, Shape{2, 3, 300, 100}}) {
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
      for (const bool negative : {false, true}) {
        OpCase op_case("Concat");
        std::vector<Value> parts;
        Shape output = shape;
        output[axis] = 0;
        for (const int64_t length : {2, 1, 0, 7}) {
          Shape part = shape;
          part[axis] = length;
          output[axis] += length;
          parts.push_back(random.Ints(part, -9, 9));
          op_case.Input(parts.back());
        }
        std::vector<int32_t> expected;
        std::vector<std::vector<int32_t>> values;
        for (const Value &part : parts) values.push_back(part.ints());
        ForEachIndex(output, [&](Index index) {
          size_t i = 0;
          while (index[axis] >= parts[i].shape[axis]) {
            index[axis] -= parts[i++].shape[axis];
          }
          int64_t flat = 0;
          for (size_t d = 0; d < index.size(); ++d) {
            flat = flat * parts[i].shape[d] + index[d];
          }
          expected.push_back(values[i][flat]);
        });
        const auto signed_axis = static_cast<int64_t>(axis);
        op_case.Int("axis",
                    negative ? signed_axis - static_cast<int64_t>(shape.rank())
                             : signed_axis);
        ExpectValue(op_case, Value::Ints(output, expected));
      }
    }
  }
}

// More than one launch of a GPU, which may begin within a block of channels.
TEST(ConcatTest, ManyInputs) {
  const std::vector<int64_t> odd = {3, 1, 2, 1, 1, 4, 1, 1, 1, 5,
                                    8, 1, 1, 1, 1, 1, 2, 1, 3};
  const std::vector<int64_t> whole(17, 4);
  for (const auto &lengths : {odd, whole}) {
    for (const size_t axis : {0, 1, 2}) {
      OpCase op_case("Concat");
      op_case.Int("axis", static_cast<int64_t>(axis));
      Shape output = {2, 3, 5};
      output[axis] = 0;
      int64_t begin = 0;
      // The value of an element says where it is in the output.
      const auto value_at = [](const Index &index) {
        return static_cast<float>((index[0] * 70 + index[1]) * 70 + index[2]);
      };
      for (const int64_t length : lengths) {
        Shape part = {2, 3, 5};
        part[axis] = length;
        output[axis] += length;
        std::vector<float> values;
        ForEachIndex(part, [&](Index index) {
          index[axis] += begin;
          values.push_back(value_at(index));
        });
        begin += length;
        op_case.Input(Value::Floats(part, values));
      }
      std::vector<float> expected;
      ForEachIndex(output,
                   [&](Index index) { expected.push_back(value_at(index)); });
      SCOPED_TRACE(output.ToString());
      ExpectValue(op_case, Value::Floats(output, expected));
    }
  }
}

TEST(ConcatTest, KnownShapesAndFloats) {
  ExpectValue(OpCase("Concat")
                  .Known(Value::Ints({1}, {7}))
                  .Constant(Value::Ints({2}, {-1, 3}))
                  .Int("axis", 0),
              Value::Ints({3}, {7, -1, 3}));
  ExpectValue(OpCase("Concat").Input(Value::Floats({1}, {2.5f})).Int("axis", 0),
              Value::Floats({1}, {2.5f}));
}

TEST(ConcatTest, Errors) {
  const Value a = Value::Ints({2, 3}, std::vector<int32_t>(6));
  const auto bad = [](const OpCase &op_case, const char *text) {
    ExpectError(op_case, MaceStatus::MACE_INVALID_ARGS, text);
  };
  bad(OpCase("Concat").Input(a).Int("axis", 2), "axis 2");
  bad(OpCase("Concat").Input(a), "axis");
  bad(OpCase("Concat")
          .Input(a)
          .Input(Value::Ints({2, 2}, std::vector<int32_t>(4)))
          .Int("axis", 0),
      "input 1 has the shape [2, 2]");
  bad(OpCase("Concat")
          .Input(a)
          .Input(Value::Ints({3}, {1, 2, 3}))
          .Int("axis", 0),
      "input 1");
  bad(OpCase("Concat")
          .Input(a)
          .Input(Value::Floats({2, 3}, std::vector<float>(6)))
          .Int("axis", 0),
      "float32");
}

// The parts of x of these lengths, one after the other.
std::vector<Value> PartsOf(const Value &x,
                           size_t axis,
                           const std::vector<int64_t> &sizes) {
  const std::vector<float> v = x.floats();
  std::vector<Value> parts;
  int64_t begin = 0;
  for (const int64_t size : sizes) {
    Shape part = x.shape;
    part[axis] = size;
    std::vector<float> values;
    ForEachIndex(part, [&](Index index) {
      index[axis] += begin;
      values.push_back(v[Flat(x.shape, index)]);
    });
    parts.push_back(Value::Floats(part, values));
    begin += size;
  }
  return parts;
}

TEST(SplitTest, CutsAlongEveryAxis) {
  Random random(17);
  for (const Shape &shape : {Shape{6}, Shape{6, 12}, Shape{6, 3, 18, 6}}) {
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
      for (const bool equal : {false, true}) {
        const int64_t third = shape[axis] / 3;
        const std::vector<int64_t> sizes =
            equal ? std::vector<int64_t>{third, third, third}
                  : std::vector<int64_t>{third, 0, shape[axis] - third};
        const Value x = random.Floats(shape);
        OpCase op_case("Split", 3);
        op_case.Input(x).Int("axis", static_cast<int64_t>(axis));
        if (!equal) op_case.Ints("sizes", sizes);
        ExpectValues(op_case, PartsOf(x, axis, sizes));
      }
    }
  }
}

// More than one launch of a GPU.
TEST(SplitTest, ManyOutputs) {
  Random random(18);
  const std::vector<int64_t> odd = {3, 1, 2, 1, 1, 4, 9, 1, 2};
  const std::vector<int64_t> whole = {4, 4, 8, 4, 4};
  for (const auto &sizes : {odd, whole}) {
    for (const size_t axis : {0, 1, 2}) {
      Shape shape = {2, 3, 5};
      shape[axis] = 24;
      const Value x = random.Floats(shape);
      SCOPED_TRACE(shape.ToString());
      ExpectValues(OpCase("Split", sizes.size())
                       .Input(x)
                       .Int("axis", static_cast<int64_t>(axis))
                       .Ints("sizes", sizes),
                   PartsOf(x, axis, sizes));
    }
  }
}

TEST(SplitTest, Errors) {
  const Value x = Value::Floats({2, 5}, std::vector<float>(10));
  const auto bad = [&x](std::vector<int64_t> sizes, int64_t axis,
                        const char *text) {
    OpCase op_case("Split", 2);
    op_case.Input(x).Int("axis", axis).Ints("sizes", sizes);
    ExpectError(op_case, MaceStatus::MACE_INVALID_ARGS, text);
  };
  bad({}, 1, "2 equal parts");
  bad({}, 2, "axis 2");
  bad({1, 1, 3}, 1, "3 sizes");
  bad({1, 3}, 1, "do not add up");
  bad({4, 2}, 1, "do not add up");
  bad({INT64_MAX, INT64_MAX}, 1, "do not add up");
}

TEST(StackTest, AddsAnAxisAnywhere) {
  Random random(18);
  for (const Shape &shape : {Shape{}, Shape{5}, Shape{2, 3}, Shape{4, 1, 7}}) {
    const auto rank = static_cast<int64_t>(shape.rank());
    for (int64_t axis = -rank - 1; axis <= rank; ++axis) {
      const size_t at = static_cast<size_t>(axis < 0 ? axis + rank + 1 : axis);
      std::vector<std::vector<int32_t>> values;
      OpCase op_case("Stack");
      for (int i = 0; i < 3; ++i) {
        const Value part = random.Ints(shape, -9, 9);
        values.push_back(part.ints());
        op_case.Input(part);
      }
      Shape output;
      for (size_t i = 0; i <= shape.rank(); ++i) {
        output.Append(i == at ? 3 : shape[i < at ? i : i - 1]);
      }
      std::vector<int32_t> expected;
      ForEachIndex(output, [&](Index index) {
        const int64_t part = index[at];
        index.erase(index.begin() + static_cast<int64_t>(at));
        expected.push_back(values[part][Flat(shape, index)]);
      });
      ExpectValue(op_case.Int("axis", axis), Value::Ints(output, expected));
    }
  }
}

TEST(StackTest, Errors) {
  const Value a = Value::Ints({2}, {1, 2});
  ExpectError(OpCase("Stack").Input(a).Int("axis", 2),
              MaceStatus::MACE_INVALID_ARGS, "axis 2");
  ExpectError(OpCase("Stack").Input(a).Input(Value::Ints({3}, {1, 2, 3})),
              MaceStatus::MACE_INVALID_ARGS, "int32[3]");
  ExpectError(OpCase("Stack").Input(Value::Ints({1, 1, 1, 1, 1, 1, 1, 1}, {1})),
              MaceStatus::MACE_INVALID_ARGS, "9 dimensions");
}

}  // namespace
}  // namespace mace
