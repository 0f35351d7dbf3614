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
using op_test::Tolerance;
using op_test::Value;

std::vector<double> Reference(const Value &x,
                              const std::string &mode,
                              const std::vector<bool> &folds,
                              const Shape &kept) {
  const double start = mode == "PROD"  ? 1
                       : mode == "MAX" ? -INFINITY
                       : mode == "MIN" ? INFINITY
                                       : 0;
  std::vector<double> y(static_cast<size_t>(kept.Elements()), start);
  const std::vector<float> v = x.floats();
  ForEachIndex(x.shape, [&](const Index &index) {
    Index at = index;
    for (size_t i = 0; i < at.size(); ++i) {
      if (folds[i]) at[i] = 0;
    }
    double &acc = y[Flat(kept, at)];
    const double value = v[Flat(x.shape, index)];
    if (mode == "PROD") {
      acc *= value;
    } else if (mode == "MAX") {
      acc = std::fmax(acc, value);
    } else if (mode == "MIN") {
      acc = std::fmin(acc, value);
    } else {
      acc += mode == "SUM_SQUARE" || mode == "L2" ? value * value : value;
    }
  });
  const double count = static_cast<double>(x.shape.Elements()) /
                       static_cast<double>(kept.Elements());
  for (double &value : y) {
    if (mode == "MEAN") value /= count;
    if (mode == "L2") value = std::sqrt(value);
  }
  return y;
}

TEST(ReduceTest, EveryModeOverEverySetOfAxes) {
  Random random(13);
  for (const Shape &shape :
       {Shape{7}, Shape{3, 5}, Shape{2, 3, 4, 19}, Shape{1, 7, 1, 5},
        Shape{2, 2, 3, 2, 17}, Shape{2, 300, 2}, Shape{1, 5, 2, 300}}) {
    const Value x = random.Floats(shape, 0.5f, 1.5f);
    for (int mask = 0; mask < 1 << shape.rank(); ++mask) {
      std::vector<bool> folds(shape.rank());
      std::vector<int64_t> axes;
      Shape kept = shape;
      Shape dropped;
      for (size_t i = 0; i < shape.rank(); ++i) {
        folds[i] = mask == 0 || ((mask >> i) & 1) != 0;
        if ((mask >> i & 1) != 0) {
          // Negative axes count from the end.
          axes.push_back(static_cast<int64_t>(i) -
                         (i % 2 == 1 ? static_cast<int64_t>(shape.rank()) : 0));
        }
        if (folds[i]) kept[i] = 1;
        if (!folds[i]) dropped.Append(shape[i]);
      }
      for (const char *mode :
           {"MEAN", "SUM", "MAX", "MIN", "PROD", "SUM_SQUARE", "L2"}) {
        SCOPED_TRACE(shape.ToString() + " " + mode);
        for (const bool keep : {false, true}) {
          // The relative error of a product is one ulp per factor.
          const Tolerance tolerance = {
              1e-30, std::string(mode) == "PROD" ? 1e-4 : 2e-6};
          ExpectFloats(OpCase("Reduce")
                           .Input(x)
                           .String("mode", mode)
                           .Ints("axes", axes)
                           .Int("keep_dims", keep ? 1 : 0),
                       keep ? kept : dropped, Reference(x, mode, folds, kept),
                       tolerance);
        }
      }
    }
  }
}

// No two axes of a kind are next to each other, so none can be joined.
TEST(ReduceTest, EveryOtherAxisOfTheHighestRank) {
  Random random(14);
  const Shape shape = {2, 3, 2, 3, 2, 3, 2, 5};
  const Value x = random.Floats(shape, 0.5f, 1.5f);
  for (const size_t first : {0, 1}) {
    std::vector<bool> folds(shape.rank());
    std::vector<int64_t> axes;
    Shape kept = shape;
    for (size_t i = first; i < shape.rank(); i += 2) {
      folds[i] = true;
      axes.push_back(static_cast<int64_t>(i));
      kept[i] = 1;
    }
    for (const char *mode : {"SUM", "MAX"}) {
      ExpectFloats(
          OpCase("Reduce").Input(x).String("mode", mode).Ints("axes", axes),
          kept, Reference(x, mode, folds, kept), {1e-30, 2e-6});
    }
  }
}

TEST(ReduceTest, LongSumsStayExact) {
  const std::vector<float> x(1000000, 0.1f);
  for (const Shape &shape : {Shape{1000000, 1}, Shape{500000, 2}}) {
    const double sum = 0.1f * 1e6 / static_cast<double>(shape[1]);
    ExpectFloats(OpCase("Reduce")
                     .Input(Value::Floats(shape, x))
                     .String("mode", "SUM")
                     .Ints("axes", {0}),
                 {1, shape[1]},
                 std::vector<double>(static_cast<size_t>(shape[1]), sum),
                 {0, 1e-4});
  }
}

TEST(ReduceTest, NanWins) {
  const float nan = std::nanf("");
  for (const char *mode : {"MAX", "MIN", "SUM"}) {
    for (const int axis : {0, 1}) {
      std::vector<float> x(40 * 40, 1.0f);
      x[3 * 40 + 3] = nan;
      std::vector<double> expected(40, std::string(mode) == "SUM" ? 40.0 : 1.0);
      expected[3] = nan;
      ExpectFloats(OpCase("Reduce")
                       .Input(Value::Floats({40, 40}, x))
                       .String("mode", mode)
                       .Ints("axes", {axis})
                       .Int("keep_dims", 0),
                   {40}, expected, {});
    }
  }
}

TEST(ReduceTest, EmptyInput) {
  const Value x = Value::Floats({0, 3}, {});
  ExpectFloats(
      OpCase("Reduce").Input(x).String("mode", "SUM").Ints("axes", {0}), {1, 3},
      {0, 0, 0}, {});
  ExpectFloats(
      OpCase("Reduce").Input(x).String("mode", "PROD").Ints("axes", {0}),
      {1, 3}, {1, 1, 1}, {});
  ExpectError(OpCase("Reduce").Input(x).String("mode", "MAX").Ints("axes", {0}),
              MaceStatus::MACE_INVALID_ARGS, "MAX over no elements");
}

TEST(ReduceTest, Errors) {
  const Value x = Value::Floats({2, 3}, std::vector<float>(6));
  ExpectError(OpCase("Reduce").Input(x).String("mode", "SUM").Ints("axes", {2}),
              MaceStatus::MACE_INVALID_ARGS, "out of range");
  ExpectError(
      OpCase("Reduce").Input(x).String("mode", "SUM").Ints("axes", {1, -1}),
      MaceStatus::MACE_INVALID_ARGS, "named twice");
}

}  // namespace
}  // namespace mace
