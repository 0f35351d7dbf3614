// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
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

TEST(GatherTest, PicksAlongEveryAxis) {
  Random random(19);
  for (const Shape &shape : {Shape{5}, Shape{4, 7}, Shape{3, 5, 2, 6}}) {
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
      for (const Shape &pick : {Shape{}, Shape{3}, Shape{2, 4}, Shape{0}}) {
        const Value params = random.Floats(shape);
        const std::vector<float> v = params.floats();
        const auto n = static_cast<int32_t>(shape[axis]);
        const Value indices = random.Ints(pick, -n, n - 1);
        const std::vector<int32_t> at = indices.ints();
        Shape output(shape.begin(), axis);
        for (const int64_t dim : pick) output.Append(dim);
        for (size_t i = axis + 1; i < shape.rank(); ++i) {
          output.Append(shape[i]);
        }
        std::vector<float> expected;
        ForEachIndex(output, [&](const Index &index) {
          const auto begin = index.begin() + static_cast<int64_t>(axis);
          const auto end = begin + static_cast<int64_t>(pick.rank());
          const int32_t row = at[Flat(pick, Index(begin, end))];
          Index from(index.begin(), begin);
          from.push_back(row < 0 ? row + n : row);
          from.insert(from.end(), end, index.end());
          expected.push_back(v[Flat(shape, from)]);
        });
        ExpectValue(OpCase("Gather").Input(params).Input(indices).Int(
                        "axis", static_cast<int64_t>(axis)),
                    Value::Floats(output, expected));
      }
    }
  }
}

TEST(GatherTest, ElementOfAShape) {
  ExpectValue(OpCase("Gather")
                  .Known(Value::Ints({4}, {1, 224, 225, 3}))
                  .Constant(Value::Ints({}, {-2})),
              Value::Ints({}, {225}));
}

TEST(GatherTest, IndexOutOfRangeIsAnErrorOfTheRun) {
  for (const int32_t index : {3, -4, INT32_MIN, INT32_MAX}) {
    ExpectError(OpCase("Gather")
                    .Input(Value::Floats({3}, {1, 2, 3}))
                    .Input(Value::Ints({2}, {0, index})),
                MaceStatus::MACE_INVALID_ARGS,
                "index " + std::to_string(index));
  }
}

TEST(GatherTest, Errors) {
  const Value x = Value::Floats({3}, {1, 2, 3});
  ExpectError(
      OpCase("Gather").Input(x).Input(Value::Ints({1}, {0})).Int("axis", 1),
      MaceStatus::MACE_INVALID_ARGS, "axis 1");
}

TEST(GatherElementsTest, PicksAlongEveryAxis) {
  Random random(19);
  for (const Shape &shape : {Shape{5}, Shape{4, 7}, Shape{3, 5, 2, 6}}) {
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
      // Shorter than params in the other axes, longer in this one; empty.
      for (const int64_t along : {1, 9, 0}) {
        Shape picked;
        for (size_t i = 0; i < shape.rank(); ++i) {
          picked.Append(i == axis ? along : (shape[i] + 1) / 2);
        }
        const Value params = random.Floats(shape);
        const std::vector<float> v = params.floats();
        const auto n = static_cast<int32_t>(shape[axis]);
        const Value indices = random.Ints(picked, -n, n - 1);
        const std::vector<int32_t> at = indices.ints();
        std::vector<float> expected;
        ForEachIndex(picked, [&](const Index &index) {
          Index from = index;
          const int32_t row = at[Flat(picked, index)];
          from[axis] = row < 0 ? row + n : row;
          expected.push_back(v[Flat(shape, from)]);
        });
        ExpectValue(OpCase("GatherElements")
                        .Input(params)
                        .Input(indices)
                        .Int("axis", static_cast<int64_t>(axis)),
                    Value::Floats(picked, expected));
      }
    }
  }
}

TEST(GatherElementsTest, OtherTypes) {
  const Value indices = Value::Ints({2, 2}, {2, 0, -1, 1});
  ExpectValue(OpCase("GatherElements")
                  .Input(Value::Ints({2, 3}, {10, 11, 12, 13, 14, INT32_MIN}))
                  .Input(indices)
                  .Int("axis", -1),
              Value::Ints({2, 2}, {12, 10, INT32_MIN, 14}));
  for (const DataType type : {DataType::kUint8, DataType::kInt8}) {
    const int32_t low = op_test::LeastByte(type);
    const Value params = Value::Bytes(
        type, {2, 3}, {low, low + 1, low + 2, low + 3, low + 4, low + 255});
    ExpectValue(
        OpCase("GatherElements").Input(params).Input(indices).Int("axis", -1),
        Value::Bytes(type, {2, 2}, {low + 2, low, low + 255, low + 4}));
  }
}

TEST(GatherElementsTest, IndexOutOfRangeIsAnErrorOfTheRun) {
  for (const int32_t index : {3, -4, INT32_MIN, INT32_MAX}) {
    ExpectError(OpCase("GatherElements")
                    .Input(Value::Floats({3}, {1, 2, 3}))
                    .Input(Value::Ints({2}, {0, index})),
                MaceStatus::MACE_INVALID_ARGS,
                "index " + std::to_string(index));
  }
}

TEST(GatherElementsTest, Errors) {
  const Value x = Value::Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  ExpectError(OpCase("GatherElements")
                  .Input(x)
                  .Input(Value::Ints({2, 3}, {0, 0, 0, 0, 0, 0}))
                  .Int("axis", 2),
              MaceStatus::MACE_INVALID_ARGS, "axis 2 is out of range");
  for (const Shape &shape : {Shape{3}, Shape{3, 1}, Shape{1, 1, 1}}) {
    ExpectError(
        OpCase("GatherElements")
            .Input(x)
            .Input(Value::Ints(
                shape,
                std::vector<int32_t>(static_cast<size_t>(shape.Elements()), 0)))
            .Int("axis", 1),
        MaceStatus::MACE_INVALID_ARGS, "do not fit params of shape [2, 3]");
  }
}

// Every number of axes and of batch dimensions.
TEST(GatherNdTest, PicksSlices) {
  Random random(19);
  const Shape shape = {3, 5, 2, 7};
  const Value params = random.Floats(shape);
  const std::vector<float> v = params.floats();
  for (size_t batch = 0; batch <= 2; ++batch) {
    for (size_t axes = 0; batch + axes <= shape.rank(); ++axes) {
      for (const int64_t count : {0, 1, 200}) {
        Shape picked(shape.begin(), batch);
        picked.Append(count);
        Shape index_shape = picked;
        index_shape.Append(static_cast<int64_t>(axes));
        // Valid along every axis: the shortest one has length 2.
        const Value indices = random.Ints(index_shape, -2, 1);
        const std::vector<int32_t> at = indices.ints();
        Shape output = picked;
        for (size_t i = batch + axes; i < shape.rank(); ++i) {
          output.Append(shape[i]);
        }
        std::vector<float> expected;
        ForEachIndex(output, [&](const Index &index) {
          const Index own(index.begin(), index.begin() + picked.rank());
          const auto row = static_cast<size_t>(Flat(picked, own));
          Index from(shape.rank(), 0);
          for (size_t i = 0; i < batch; ++i) from[i] = index[i];
          for (size_t i = 0; i < axes; ++i) {
            const int32_t p = at[row * axes + i];
            from[batch + i] = p < 0 ? p + shape[batch + i] : p;
          }
          for (size_t i = batch + axes; i < shape.rank(); ++i) {
            from[i] = index[picked.rank() + i - batch - axes];
          }
          expected.push_back(v[static_cast<size_t>(Flat(shape, from))]);
        });
        SCOPED_TRACE(testing::Message() << batch << " " << axes);
        ExpectValue(OpCase("GatherNd")
                        .Input(params)
                        .Input(indices)
                        .Int("batch_dims", static_cast<int64_t>(batch)),
                    Value::Floats(output, expected));
      }
    }
  }
}

TEST(GatherNdTest, OtherTypes) {
  const Value indices = Value::Ints({2, 2}, {0, -1, 1, 0});
  ExpectValue(OpCase("GatherNd")
                  .Input(Value::Ints({2, 3}, {10, 11, 12, 13, 14, INT32_MIN}))
                  .Input(indices),
              Value::Ints({2}, {12, 13}));
  for (const DataType type : {DataType::kUint8, DataType::kInt8}) {
    const int32_t low = op_test::LeastByte(type);
    const Value params = Value::Bytes(
        type, {2, 3}, {low, low + 1, low + 2, low + 3, low + 4, low + 255});
    ExpectValue(OpCase("GatherNd").Input(params).Input(indices),
                Value::Bytes(type, {2}, {low + 2, low + 3}));
    ExpectValue(
        OpCase("GatherNd").Input(params).Input(Value::Ints({1, 1}, {1})),
        Value::Bytes(type, {1, 3}, {low + 3, low + 4, low + 255}));
  }
}

TEST(GatherNdTest, IndexOutOfRangeIsAnErrorOfTheRun) {
  for (const int32_t index : {3, -4, INT32_MIN, INT32_MAX}) {
    ExpectError(OpCase("GatherNd")
                    .Input(Value::Floats({3}, {1, 2, 3}))
                    .Input(Value::Ints({2, 1}, {0, index})),
                MaceStatus::MACE_INVALID_ARGS,
                "index " + std::to_string(index));
  }
}

TEST(GatherNdTest, Errors) {
  const Value x = Value::Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  ExpectError(OpCase("GatherNd").Input(x).Input(Value::Ints({}, {0})),
              MaceStatus::MACE_INVALID_ARGS, "do not fit params");
  ExpectError(OpCase("GatherNd").Input(x).Input(Value::Ints({3}, {0, 0, 0})),
              MaceStatus::MACE_INVALID_ARGS,
              "indices of shape [3] do not fit params of shape [2, 3]");
  ExpectError(OpCase("GatherNd")
                  .Input(x)
                  .Input(Value::Ints({3, 1}, {0, 0, 0}))
                  .Int("batch_dims", 1),
              MaceStatus::MACE_INVALID_ARGS, "with 1 batch dimensions");
  ExpectError(OpCase("GatherNd")
                  .Input(x)
                  .Input(Value::Ints({3, 1}, {0, 0, 0}))
                  .Int("batch_dims", -1),
              MaceStatus::MACE_INVALID_ARGS, "batch_dims");
}

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

OpCase Make(const Value &indices, int64_t depth, int64_t axis, bool wrap) {
  return OpCase("OneHot")
      .Input(indices)
      .Constant(Value::Floats({2}, {-1, 5}))
      .Int("depth", depth)
      .Int("axis", axis)
      .Int("wrap", wrap ? 1 : 0);
}

TEST(OneHotTest, NewAxisLast) {
  const Value indices = Value::Ints({3}, {2, 0, 1});
  const Value wanted = Value::Floats({3, 3}, {-1, -1, 5, 5, -1, -1, -1, 5, -1});
  ExpectValue(Make(indices, 3, -1, false), wanted);
  ExpectValue(Make(indices, 3, 1, false), wanted);
}

TEST(OneHotTest, NewAxisBetween) {
  const Value indices = Value::Ints({2, 2}, {1, 0, 1, 1});
  ExpectValue(Make(indices, 2, 1, false),
              Value::Floats({2, 2, 2}, {-1, 5, 5, -1, -1, -1, 5, 5}));
  ExpectValue(Make(indices, 2, 0, false),
              Value::Floats({2, 2, 2}, {-1, 5, -1, -1, 5, -1, 5, 5}));
}

TEST(OneHotTest, IndicesOutside) {
  const Value indices = Value::Ints({4}, {-1, 2, -2, -3});
  ExpectValue(Make(indices, 2, -1, false),
              Value::Floats({4, 2}, std::vector<float>(8, -1)));
  ExpectValue(Make(indices, 2, -1, true),
              Value::Floats({4, 2}, {-1, 5, -1, -1, 5, -1, -1, -1}));
}

TEST(OneHotTest, IntegersScalarsAndNothing) {
  OpCase ints("OneHot");
  ints.Input(Value::Ints({}, {1})).Input(Value::Ints({2}, {7, 8}));
  ExpectValue(ints.Int("depth", 3), Value::Ints({3}, {7, 8, 7}));
  ExpectValue(Make(Value::Ints({2}, {0, 1}), 0, -1, false),
              Value::Floats({2, 0}, {}));
  ExpectValue(Make(Value::Ints({0}, {}), 3, 0, false),
              Value::Floats({3, 0}, {}));
}

TEST(OneHotTest, Errors) {
  const Value indices = Value::Ints({2}, {0, 1});
  const auto kInvalid = MaceStatus::MACE_INVALID_ARGS;
  ExpectError(Make(indices, 3, 2, false), kInvalid,
              "axis 2 is not within [-2, 1]");
  OpCase three("OneHot");
  three.Input(indices).Input(Value::Floats({3}, {0, 1, 2}));
  ExpectError(three.Int("depth", 3), kInvalid, "expected [2]");
  const Shape most{1, 1, 1, 1, 1, 1, 1, 1};
  ExpectError(Make(Value::Ints(most, {0}), 3, 0, false), kInvalid,
              "9 dimensions");
}

}  // namespace
}  // namespace mace
