// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdint>
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
using op_test::RoundToHalf;
using op_test::Value;

// Python's slicing of one axis, from its own definition of the indices.
std::vector<int64_t> Slice(int64_t n,
                           int64_t begin,
                           int64_t end,
                           int64_t stride) {
  const int64_t low = stride > 0 ? 0 : -1;
  const int64_t high = stride > 0 ? n : n - 1;
  const auto clamp = [&](int64_t i) {
    if (i < 0) i += n;
    return i < low ? low : (i > high ? high : i);
  };
  std::vector<int64_t> indices;
  for (int64_t i = clamp(begin); stride > 0 ? i < clamp(end) : i > clamp(end);
       i += stride) {
    indices.push_back(i);
  }
  return indices;
}

TEST(StridedSliceTest, RandomCutsMatchPython) {
  Random random(20);
  for (int round = 0; round < 400; ++round) {
    Shape shape;
    const int64_t rank = random.Int(1, 4);
    for (int64_t i = 0; i < rank; ++i) shape.Append(random.Int(1, 7));
    std::vector<int64_t> axes, begins, ends, strides, shrink;
    std::vector<std::vector<int64_t>> picked;
    Shape whole, output;
    for (int64_t i = 0; i < rank; ++i) {
      std::vector<int64_t> indices = Slice(shape[i], 0, shape[i], 1);
      if (random.Int(0, 2) != 0) {
        axes.push_back(random.Int(0, 1) == 0 ? i : i - rank);
        begins.push_back(random.Int(-9, 9));
        ends.push_back(random.Int(-9, 9));
        strides.push_back(random.Int(0, 1) == 0 ? 1 : random.Int(1, 3));
        if (random.Int(0, 2) == 0) strides.back() = -strides.back();
        indices = Slice(shape[i], begins.back(), ends.back(), strides.back());
      }
      const bool drop = indices.size() == 1 && random.Int(0, 1) == 0;
      if (drop) shrink.push_back(i);
      const auto length = static_cast<int64_t>(indices.size());
      if (!drop) output.Append(length);
      whole.Append(length);
      picked.push_back(indices);
    }
    const Value x = random.Ints(shape, -99, 99);
    const std::vector<int32_t> v = x.ints();
    std::vector<int32_t> expected;
    ForEachIndex(whole, [&](Index index) {
      for (size_t i = 0; i < index.size(); ++i) index[i] = picked[i][index[i]];
      expected.push_back(v[Flat(shape, index)]);
    });
    ExpectValue(OpCase("StridedSlice")
                    .Input(x)
                    .Ints("axes", axes)
                    .Ints("begins", begins)
                    .Ints("ends", ends)
                    .Ints("strides", strides)
                    .Ints("shrink_axes", shrink),
                Value::Ints(output, expected));
  }
}

OpCase Cut(const Value &x, int64_t begin, int64_t end, int64_t stride) {
  return OpCase("StridedSlice")
      .Known(x)
      .Ints("axes", {0})
      .Ints("begins", {begin})
      .Ints("ends", {end})
      .Ints("strides", {stride});
}

TEST(StridedSliceTest, ExtremeNumbers) {
  const Value x = Value::Ints({3}, {1, 2, 3});
  ExpectValue(Cut(x, INT64_MIN, INT64_MAX, 1), x);
  ExpectValue(Cut(x, INT64_MAX, INT64_MIN, -1), Value::Ints({3}, {3, 2, 1}));
  ExpectValue(Cut(x, 0, INT64_MAX, INT64_MAX), Value::Ints({1}, {1}));
  ExpectValue(Cut(x, -1, INT64_MIN, INT64_MIN), Value::Ints({1}, {3}));
  ExpectValue(Cut(x, 2, 1, 1), Value::Ints({0}, {}));
}

TEST(StridedSliceTest, Errors) {
  const Value x = Value::Ints({3}, {1, 2, 3});
  const auto bad = [](const OpCase &op_case, const char *text) {
    ExpectError(op_case, MaceStatus::MACE_INVALID_ARGS, text);
  };
  bad(Cut(x, 0, 1, 0), "stride is 0");
  bad(Cut(x, 0, 2, 1).Ints("shrink_axes", {0}), "axis 0 cannot be dropped");
  bad(Cut(x, 0, 1, 1).Ints("shrink_axes", {1}), "axis 1 cannot be dropped");
  bad(OpCase("StridedSlice")
          .Input(x)
          .Ints("axes", {0, 0})
          .Ints("begins", {0, 0})
          .Ints("ends", {1, 1})
          .Ints("strides", {1, 1}),
      "named twice");
  bad(OpCase("StridedSlice")
          .Input(x)
          .Ints("axes", {0})
          .Ints("begins", {0})
          .Ints("ends", {1, 1})
          .Ints("strides", {1}),
      "1, 1, 2 and 1");
}

int64_t Source(const std::string &mode, int64_t i, int64_t n) {
  // Moves step by step from outside to inside.
  if (i >= 0 && i < n) return i;
  if (mode == "CONSTANT") return -1;
  if (mode == "EDGE") return i < 0 ? 0 : n - 1;
  if (mode == "REFLECT") return i < 0 ? -i : n - 1 - (i - (n - 1));
  return i < 0 ? -1 - i : n - 1 - (i - n);
}

TEST(PadTest, EveryMode) {
  Random random(21);
  struct Case {
    Shape shape;
    std::vector<int64_t> pads;
  };
  const Case cases[] = {
      {{5}, {2, 3}},
      {{4, 3}, {0, 0, 1, 2}},
      {{4, 3}, {3, 1, 0, 0}},
      {{2, 4, 5, 3}, {0, 0, 1, 2, 3, 1, 0, 0}},
      {{2, 3, 3, 5}, {1, 0, 0, 1, 1, 1, 2, 2}},
      {{3, 1, 2}, {0, 0, 0, 0, 0, 0}},
      {{2, 3, 2, 3, 2, 5}, {1, 0, 0, 2, 1, 1, 0, 1, 1, 1, 0, 0}},
      {{2, 3, 2, 2, 3, 2}, {1, 1, 0, 0, 1, 0, 1, 1, 0, 2, 1, 1}},
  };
  for (const Case &c : cases) {
    for (const char *mode : {"CONSTANT", "REFLECT", "SYMMETRIC", "EDGE"}) {
      const Value x = random.Floats(c.shape);
      const std::vector<float> v = x.floats();
      Shape output = c.shape;
      for (size_t i = 0; i < output.rank(); ++i) {
        output[i] += c.pads[2 * i] + c.pads[2 * i + 1];
      }
      std::vector<float> expected;
      ForEachIndex(output, [&](Index index) {
        bool outside = false;
        for (size_t i = 0; i < index.size(); ++i) {
          index[i] = Source(mode, index[i] - c.pads[2 * i], c.shape[i]);
          outside |= index[i] < 0;
        }
        expected.push_back(outside ? 1.5f : v[Flat(c.shape, index)]);
      });
      SCOPED_TRACE(c.shape.ToString() + mode);
      ExpectValue(OpCase("Pad")
                      .Input(x)
                      .Ints("pads", c.pads)
                      .String("mode", mode)
                      .Float("value", 1.5f),
                  Value::Floats(output, expected));
      for (const bool bf16 : {false, true}) {
        ExpectValue(OpCase("Pad")
                        .Input(RoundToHalf(x, bf16))
                        .ComputeIn(op_test::HalfPrecision(bf16))
                        .Ints("pads", c.pads)
                        .String("mode", mode)
                        .Float("value", 1.5f),
                    RoundToHalf(Value::Floats(output, expected), bf16));
      }
    }
  }
}

TEST(PadTest, IntegersScalarsAndNothing) {
  ExpectValue(OpCase("Pad")
                  .Input(Value::Ints({1}, {5}))
                  .Ints("pads", {1, 1})
                  .Float("value", -2.9f),
              Value::Ints({3}, {-2, 5, -2}));
  ExpectValue(OpCase("Pad")
                  .Input(Value::Ints({1}, {5}))
                  .Ints("pads", {0, 1})
                  .Float("value", 1e20f),
              Value::Ints({2}, {5, INT32_MAX}));
  ExpectValue(OpCase("Pad")
                  .Input(Value::Shorts({3}, {5, -300, 9}))
                  .Ints("pads", {1, 2})
                  .Float("value", -1000),
              Value::Shorts({6}, {-1000, 5, -300, 9, -1000, -1000}));
  ExpectValue(OpCase("Pad")
                  .Input(Value::Shorts({1}, {5}))
                  .Ints("pads", {0, 1})
                  .Float("value", 1e20f),
              Value::Shorts({2}, {5, INT16_MAX}));
  ExpectValue(OpCase("Pad").Input(Value::Ints({}, {5})).Ints("pads", {}),
              Value::Ints({}, {5}));
  ExpectValue(
      OpCase("Pad").Input(Value::Floats({0, 2}, {})).Ints("pads", {1, 0, 0, 0}),
      Value::Floats({1, 2}, {0, 0}));
}

TEST(PadTest, Errors) {
  const Value x = Value::Floats({2, 3}, std::vector<float>(6));
  const auto bad = [&x](const std::vector<int64_t> &pads, const char *mode,
                        const char *text) {
    ExpectError(OpCase("Pad").Input(x).Ints("pads", pads).String("mode", mode),
                MaceStatus::MACE_INVALID_ARGS, text);
  };
  bad({1, 1}, "CONSTANT", "2 pads, not 4");
  bad({0, 0, 3, 0}, "REFLECT", "at most by 2");
  bad({0, 3, 0, 0}, "SYMMETRIC", "at most by 2");
  bad({0, 0, 0, INT64_MAX}, "CONSTANT", "axis 1");
  bad({INT64_C(1) << 40, 0, 0, 0}, "CONSTANT", "too large");
  bad({-1, 0, 0, 0}, "CONSTANT", "pads");
  ExpectError(OpCase("Pad")
                  .Input(Value::Floats({0}, {}))
                  .Ints("pads", {1, 0})
                  .String("mode", "EDGE"),
              MaceStatus::MACE_INVALID_ARGS, "at most by 0");
}

const Value kMatrix = Value::Ints({2, 3}, {1, 2, 3, 4, 5, 6});

TEST(TrimOpTest, TheRunDeterminesTheShape) {
  for (int32_t count = 0; count <= 3; ++count) {
    std::vector<int32_t> rows;
    for (int32_t row = 0; row < 2; ++row) {
      for (int32_t i = 1; i <= count; ++i) rows.push_back(3 * row + i);
    }
    for (const int64_t axis : {1, -1}) {
      ExpectValue(OpCase("Trim")
                      .Input(kMatrix)
                      .Input(Value::Ints({1}, {count}))
                      .Int("axis", axis),
                  Value::Ints({2, count}, rows));
    }
  }
  ExpectValue(OpCase("Trim")
                  .Input(Value::Floats({3, 1, 2}, {1, 2, 3, 4, 5, 6}))
                  .Input(Value::Ints({}, {2}))
                  .Int("axis", 0),
              Value::Floats({2, 1, 2}, {1, 2, 3, 4}));
}

TEST(TrimOpTest, CountsAreLimited) {
  const auto trimmed = [](int32_t count) {
    return OpCase("Trim")
        .Input(kMatrix)
        .Input(Value::Ints({1}, {count}))
        .Int("axis", 0);
  };
  ExpectValue(trimmed(INT32_MAX), kMatrix);
  ExpectValue(trimmed(INT32_MIN), Value::Ints({0, 3}, {}));
}

TEST(TrimOpTest, KnownCountsMakeKnownShapes) {
  ExpectValue(OpCase("Trim")
                  .Input(kMatrix)
                  .Constant(Value::Ints({1}, {1}))
                  .Int("axis", 0),
              Value::Ints({1, 3}, {1, 2, 3}));
}

TEST(TrimOpTest, Errors) {
  ExpectError(
      OpCase("Trim").Input(kMatrix).Input(Value::Ints({1}, {1})).Int("axis", 2),
      MaceStatus::MACE_INVALID_ARGS,
      "axis 2 is out of range for an input of shape [2, 3]");
  ExpectError(OpCase("Trim")
                  .Input(kMatrix)
                  .Input(Value::Ints({2}, {1, 1}))
                  .Int("axis", 0),
              MaceStatus::MACE_INVALID_ARGS,
              "count has the shape [2]; it takes one element");
}

}  // namespace
}  // namespace mace
