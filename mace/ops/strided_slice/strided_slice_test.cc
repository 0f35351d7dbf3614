// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "mace/ops/testing/indexing.h"
#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectFloats;
using op_test::ExpectValue;
using op_test::ExpectValues;
using op_test::Flat;
using op_test::ForEachIndex;
using op_test::Index;
using op_test::OpCase;
using op_test::Random;
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

}  // namespace
}  // namespace mace
