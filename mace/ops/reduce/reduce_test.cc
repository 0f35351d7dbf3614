// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
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
  const double inf = INFINITY;
  const double nan = std::nan("");
  struct Case {
    const char *mode;
    double value;
  };
  for (const Case &c :
       {Case{"MAX", -inf}, Case{"MIN", inf}, Case{"MEAN", nan}, Case{"L2", 0},
        Case{"SUM_SQUARE", 0}, Case{"SUM", 0}, Case{"PROD", 1}}) {
    SCOPED_TRACE(c.mode);
    for (const int64_t columns : {1, 3, 300}) {
      const auto count = static_cast<size_t>(columns);
      // Pixels, and channels too, have no elements.
      ExpectFloats(OpCase("Reduce")
                       .Input(Value::Floats({2, 0, columns}, {}))
                       .String("mode", c.mode)
                       .Ints("axes", {1}),
                   {2, 1, columns}, std::vector<double>(2 * count, c.value),
                   {});
      ExpectFloats(OpCase("Reduce")
                       .Input(Value::Floats({columns, 2, 0}, {}))
                       .String("mode", c.mode)
                       .Ints("axes", {2})
                       .Int("keep_dims", 0),
                   {columns, 2}, std::vector<double>(2 * count, c.value), {});
    }
  }
  // Results that have no elements either.
  ExpectFloats(OpCase("Reduce")
                   .Input(Value::Floats({0, 0, 3}, {}))
                   .String("mode", "MAX")
                   .Ints("axes", {1}),
               {0, 1, 3}, {}, {});
}

// The same session with and without elements.
TEST(ReduceTest, ElementsComeAndGo) {
  OpCase op_case = OpCase("Reduce")
                       .Input(Value::Floats({2, 3}, {1, 2, 3, 6, 5, 4}))
                       .String("mode", "MAX")
                       .Ints("axes", {1});
  op_test::OpSession session(op_case, op_test::RunOptions());
  const Value some = op_case.inputs[0].value;
  for (const bool empty : {false, true, false}) {
    std::vector<op_test::CaseInput> inputs = op_case.inputs;
    inputs[0].value = empty ? Value::Floats({2, 0}, {}) : some;
    const op_test::OpResult result = session.Run(inputs);
    ASSERT_EQ(result.status.code(), MaceStatus::MACE_SUCCESS)
        << result.status.information();
    op_test::ExpectNear(result.outputs[0].floats(),
                        empty ? std::vector<double>{-INFINITY, -INFINITY}
                              : std::vector<double>{3, 6},
                        {});
  }
}

int64_t Folded(const std::string &mode, int64_t a, int64_t b) {
  if (mode == "MAX") return std::max(a, b);
  if (mode == "MIN") return std::min(a, b);
  if (mode == "PROD") return a * b;
  return a + (mode == "SUM" ? b : b * b);
}

TEST(ReduceTest, Integers) {
  Random random(15);
  for (const Shape &shape : {Shape{3, 40}, Shape{5, 2, 3}, Shape{4, 3, 600}}) {
    const Value x = random.Ints(shape, -4, 4);
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
      for (const std::string mode :
           {"SUM", "MAX", "MIN", "PROD", "SUM_SQUARE"}) {
        if (mode == "PROD" && shape[axis] > 5) continue;
        SCOPED_TRACE(shape.ToString() + " " + mode);
        Shape kept = shape;
        kept[axis] = 1;
        const int64_t start = mode == "PROD"  ? 1
                              : mode == "MAX" ? INT32_MIN
                              : mode == "MIN" ? INT32_MAX
                                              : 0;
        std::vector<int64_t> y(static_cast<size_t>(kept.Elements()), start);
        ForEachIndex(shape, [&](const Index &index) {
          Index at = index;
          at[axis] = 0;
          int64_t &acc = y[Flat(kept, at)];
          acc = Folded(mode, acc, x.ints()[Flat(shape, index)]);
        });
        for (const bool wide : {false, true}) {
          ExpectValue(OpCase("Reduce")
                          .Input(x)
                          .String("mode", mode)
                          .Ints("axes", {static_cast<int64_t>(axis)})
                          .Int("wide", wide ? 1 : 0),
                      Value::Ints(kept, {y.begin(), y.end()}));
        }
      }
    }
  }
}

TEST(ReduceTest, IntegersOfNoElements) {
  struct Case {
    const char *mode;
    int32_t value;
  };
  for (const Case &c : {Case{"MAX", INT32_MIN}, Case{"MIN", INT32_MAX},
                        Case{"SUM", 0}, Case{"PROD", 1}}) {
    ExpectValue(OpCase("Reduce")
                    .Input(Value::Ints({2, 0}, {}))
                    .String("mode", c.mode)
                    .Ints("axes", {1}),
                Value::Ints({2, 1}, {c.value, c.value}));
  }
}

TEST(ReduceTest, IntegersWrapAroundUnlessTheyAreWide) {
  struct Case {
    const char *mode;
    std::vector<int32_t> x;
    int32_t wrapped;
  };
  for (const Case &c :
       {Case{"SUM", {INT32_MAX, 1, 1}, INT32_MIN + 1},
        Case{"PROD", {1 << 16, 1 << 16, 3}, 0},
        Case{"PROD", {INT32_MIN, INT32_MIN, INT32_MIN}, 0},
        Case{"SUM_SQUARE", {1 << 16, 5, 0}, 25},
        Case{"SUM_SQUARE", {INT32_MIN, INT32_MIN, INT32_MIN}, 0}}) {
    SCOPED_TRACE(c.mode);
    const OpCase op_case = OpCase("Reduce")
                               .Input(Value::Ints({3}, c.x))
                               .String("mode", c.mode)
                               .Int("keep_dims", 0);
    ExpectValue(op_case, Value::Ints({}, {c.wrapped}));
    ExpectError(OpCase(op_case).Int("wide", 1), MaceStatus::MACE_INVALID_ARGS,
                "a result exceeds the 32 bits");
  }
  // What lies between does not count.
  ExpectValue(
      OpCase("Reduce")
          .Input(Value::Ints({4}, {INT32_MAX, INT32_MAX, -5, INT32_MIN}))
          .String("mode", "SUM")
          .Int("wide", 1),
      Value::Ints({1}, {INT32_MAX - 6}));
  ExpectValue(OpCase("Reduce")
                  .Input(Value::Ints({4}, {INT32_MIN, INT32_MIN, INT32_MIN, 0}))
                  .String("mode", "PROD")
                  .Int("wide", 1),
              Value::Ints({1}, {0}));
}

TEST(ReduceTest, Errors) {
  const Value x = Value::Floats({2, 3}, std::vector<float>(6));
  ExpectError(OpCase("Reduce").Input(x).String("mode", "SUM").Ints("axes", {2}),
              MaceStatus::MACE_INVALID_ARGS, "out of range");
  ExpectError(
      OpCase("Reduce").Input(x).String("mode", "SUM").Ints("axes", {1, -1}),
      MaceStatus::MACE_INVALID_ARGS, "named twice");
  for (const char *mode : {"MEAN", "L2"}) {
    ExpectError(
        OpCase("Reduce").Input(Value::Ints({1}, {1})).String("mode", mode),
        MaceStatus::MACE_UNSUPPORTED, "does not support int32");
  }
}

}  // namespace
}  // namespace mace
