// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectFloats;
using op_test::ExpectValue;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

struct Sums {
  size_t axis;
  bool exclusive;
  bool reverse;
};

// Adds all elements before each element, one after the other.
template <typename Result, typename T>
std::vector<Result> Expected(const Shape &shape,
                             const Sums &sums,
                             const std::vector<T> &x) {
  const int64_t inner = shape.Elements(sums.axis + 1, shape.rank());
  std::vector<Result> y(x.size());
  for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
    const int64_t own = i / inner % shape[sums.axis];
    Result sum = 0;
    for (int64_t k = 0; k < shape[sums.axis]; ++k) {
      const bool before = sums.reverse ? k > own : k < own;
      if (before || (k == own && !sums.exclusive)) {
        sum +=
            static_cast<Result>(x[static_cast<size_t>(i + (k - own) * inner)]);
      }
    }
    y[static_cast<size_t>(i)] = sum;
  }
  return y;
}

OpCase CaseOf(const Value &x, const Sums &sums) {
  return OpCase("CumSum")
      .Input(x)
      .Int("axis", static_cast<int64_t>(sums.axis))
      .Int("exclusive", sums.exclusive ? 1 : 0)
      .Int("reverse", sums.reverse ? 1 : 0);
}

// Calls `check` with every axis of several shapes, and all four combinations of
// exclusive and reverse.
template <typename Check>
void ForEachCase(Check &&check) {
  // Axes of one element and of none, rows and columns longer than a block.
  for (const Shape &shape :
       {Shape{7}, Shape{2, 3, 5, 33}, Shape{3, 300}, Shape{2, 1, 4},
        Shape{3, 0, 2}, Shape{1, 700}, Shape{20, 40, 30}}) {
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
      for (int ways = 0; ways < 4; ++ways) {
        SCOPED_TRACE(testing::Message()
                     << shape.ToString() << " axis " << axis << " exclusive "
                     << ways % 2 << " reverse " << ways / 2);
        check(shape, Sums{axis, ways % 2 == 1, ways / 2 == 1});
      }
    }
  }
}

TEST(CumSumOpTest, AddsFloats) {
  Random random(1);
  ForEachCase([&](const Shape &shape, const Sums &sums) {
    const Value x = random.Floats(shape);
    // Sums of up to 700 numbers in [-1, 1] are below 100 here, so each addition
    // has an error of up to 2^-18.
    ExpectFloats(CaseOf(x, sums), shape,
                 Expected<double>(shape, sums, x.floats()), {700 * 0x1p-18, 0});
  });
}

TEST(CumSumOpTest, AddsIntegers) {
  Random random(2);
  ForEachCase([&](const Shape &shape, const Sums &sums) {
    const Value x = random.Ints(shape, -100000, 100000);
    ExpectValue(CaseOf(x, sums),
                Value::Ints(shape, Expected<int32_t>(shape, sums, x.ints())));
  });
}

TEST(CumSumOpTest, IntegersWrapAround) {
  const Value x = Value::Ints({3}, {INT32_MAX, 1, -1});
  ExpectValue(OpCase("CumSum").Input(x).Int("axis", 0),
              Value::Ints({3}, {INT32_MAX, INT32_MIN, INT32_MAX}));
}

// Whole numbers whose sums are exact in 16 bits.
TEST(CumSumOpTest, WideIntegersFitOrAreAnError) {
  for (const Shape &shape : {Shape{4}, Shape{4, 1}}) {
    const OpCase fits = OpCase("CumSum")
                            .Input(Value::Ints(shape, {INT32_MAX, -1, 1, -5}))
                            .Int("axis", 0)
                            .Int("wide", 1);
    ExpectValue(fits, Value::Ints(shape, {INT32_MAX, INT32_MAX - 1, INT32_MAX,
                                          INT32_MAX - 5}));
    const OpCase last = OpCase("CumSum")
                            .Input(Value::Ints(shape, {1, 2, 3, INT32_MAX}))
                            .Int("axis", 0)
                            .Int("wide", 1);
    ExpectError(last, MaceStatus::MACE_INVALID_ARGS,
                "a result exceeds the 32 bits");
    // The last element is in no sum.
    ExpectValue(OpCase(last).Int("exclusive", 1),
                Value::Ints(shape, {0, 1, 3, 6}));
    ExpectError(OpCase(last).Int("exclusive", 1).Int("reverse", 1),
                MaceStatus::MACE_INVALID_ARGS, "a result exceeds the 32 bits");
  }
  // In one of many columns.
  std::vector<int32_t> x(2 * 3000, 1);
  x[2999] = INT32_MAX;
  ExpectError(OpCase("CumSum")
                  .Input(Value::Ints({2, 3000}, x))
                  .Int("axis", 0)
                  .Int("wide", 1),
              MaceStatus::MACE_INVALID_ARGS, "a result exceeds the 32 bits");
}

TEST(CumSumOpTest, AddsWhatIsStoredIn16Bits) {
  Random random(3);
  ForEachCase([&](const Shape &shape, const Sums &sums) {
    std::vector<float> values;
    for (const int32_t v : random.Ints(shape, 0, 1).ints()) {
      values.push_back(values.size() % 3 == 0 ? static_cast<float>(v) : 0.0f);
    }
    const Value x = Value::Floats(shape, values);
    const std::vector<double> expected = Expected<double>(shape, sums, values);
    ExpectFloats(CaseOf(x, sums).ComputeIn(Precision::kFloat16), shape,
                 expected, {0, 0});
    ExpectFloats(CaseOf(x, sums).ComputeIn(Precision::kBfloat16), shape,
                 expected, {0, 0x1p-8});
  });
}

TEST(CumSumOpTest, CountsAxesFromTheEnd) {
  const Value x = Value::Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  ExpectFloats(OpCase("CumSum").Input(x).Int("axis", -1), {2, 3},
               {1, 3, 6, 4, 9, 15}, {0, 0});
  ExpectFloats(OpCase("CumSum").Input(x).Int("axis", -2), {2, 3},
               {1, 2, 3, 5, 7, 9}, {0, 0});
}

// After a sum is infinite or NaN, all later sums are too; earlier sums are not
// affected.
TEST(CumSumOpTest, InfinityGoesForward) {
  const double inf = HUGE_VAL;
  const Value x = Value::Floats({4}, {1, HUGE_VALF, 2, -HUGE_VALF});
  ExpectFloats(OpCase("CumSum").Input(x).Int("axis", 0), {4},
               {1, inf, inf, NAN}, {0, 0});
  ExpectFloats(OpCase("CumSum").Input(x).Int("axis", 0).Int("exclusive", 1),
               {4}, {0, 1, inf, inf}, {0, 0});
}

TEST(CumSumOpTest, Errors) {
  const Value x = Value::Floats({2}, {1, 2});
  ExpectError(OpCase("CumSum").Input(x), MaceStatus::MACE_INVALID_ARGS, "axis");
  ExpectError(OpCase("CumSum").Input(x).Int("axis", 1),
              MaceStatus::MACE_INVALID_ARGS,
              "axis 1 is out of range for an input of shape [2]");
  ExpectError(OpCase("CumSum").Input(Value::Floats({}, {1})).Int("axis", 0),
              MaceStatus::MACE_INVALID_ARGS, "axis 0 is out of range");
}

}  // namespace
}  // namespace mace
