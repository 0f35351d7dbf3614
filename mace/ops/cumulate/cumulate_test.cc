// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
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

OpCase CaseOf(const std::string &mode, const Value &x, int64_t axis) {
  return OpCase("Cumulate").Input(x).Int("axis", axis).String("mode", mode);
}

// Of the elements before each element, in double precision.
template <typename Combine>
std::vector<double> Expected(const Shape &shape,
                             size_t axis,
                             int ways,
                             const std::vector<float> &x,
                             double first,
                             Combine combine) {
  const int64_t inner = shape.Elements(axis + 1, shape.rank());
  std::vector<double> y(x.size());
  for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
    const int64_t own = i / inner % shape[axis];
    double result = first;
    for (int64_t step = 0; step < shape[axis]; ++step) {
      const int64_t k = ways / 2 == 1 ? shape[axis] - 1 - step : step;
      if (k == own && ways % 2 == 1) break;
      const auto at = static_cast<size_t>(i + (k - own) * inner);
      result = combine(result, double{x[at]});
      if (k == own) break;
    }
    y[static_cast<size_t>(i)] = result;
  }
  return y;
}

TEST(CumulateOpTest, Floats) {
  Random random(1);
  for (const Shape &shape : {Shape{7}, Shape{2, 3, 5, 33}, Shape{3, 40},
                             Shape{2, 1, 4}, Shape{3, 0, 2}, Shape{6, 2500}}) {
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
      if (shape[axis] > 100) continue;
      for (int ways = 0; ways < 4; ++ways) {
        SCOPED_TRACE(testing::Message()
                     << shape.ToString() << " axis " << axis << " exclusive "
                     << ways % 2 << " reverse " << ways / 2);
        const Value x = random.Floats(shape);
        const auto check = [&](const char *mode, double first, auto combine) {
          SCOPED_TRACE(mode);
          const OpCase one = CaseOf(mode, x, static_cast<int64_t>(axis))
                                 .Int("exclusive", ways % 2)
                                 .Int("reverse", ways / 2);
          ExpectFloats(one, shape,
                       Expected(shape, axis, ways, x.floats(), first, combine),
                       {1e-6, 1e-5});
        };
        check("PROD", 1, [](double a, double b) { return a * b; });
        check("MAX", -INFINITY, [](double a, double b) { return fmax(a, b); });
        check("MIN", INFINITY, [](double a, double b) { return fmin(a, b); });
        check("LOG_SUM_EXP", -INFINITY, [](double a, double b) {
          return std::log(std::exp(a) + std::exp(b));
        });
      }
    }
  }
}

TEST(CumulateOpTest, WhatIsNoNumberRemains) {
  const Value x = Value::Floats({5}, {1, 3, NAN, 5, -1});
  const std::vector<double> largest = {1, 3, NAN, NAN, NAN};
  ExpectFloats(CaseOf("MAX", x, 0), {5}, largest, {0, 0});
  const std::vector<double> smallest = {1, 1, NAN, NAN, NAN};
  ExpectFloats(CaseOf("MIN", x, 0), {5}, smallest, {0, 0});
  const Value large = Value::Floats({4}, {-INFINITY, -200, 200, INFINITY});
  ExpectFloats(CaseOf("LOG_SUM_EXP", large, 0), {4},
               {-INFINITY, -200, 200, INFINITY}, {0, 0});
}

TEST(CumulateOpTest, Integers) {
  const Value x = Value::Ints({4}, {3, -2, 5, 2});
  ExpectValue(CaseOf("PROD", x, 0), Value::Ints({4}, {3, -6, -30, -60}));
  ExpectValue(CaseOf("MAX", x, 0), Value::Ints({4}, {3, 3, 5, 5}));
  ExpectValue(CaseOf("MIN", x, 0).Int("exclusive", 1),
              Value::Ints({4}, {INT32_MAX, 3, -2, -2}));
  const Value large = Value::Ints({3}, {INT32_MAX, 2, 3});
  ExpectValue(CaseOf("PROD", large, 0), Value::Ints({3}, {INT32_MAX, -2, -6}));
  ExpectError(CaseOf("PROD", large, 0).Int("wide", 1),
              MaceStatus::MACE_INVALID_ARGS, "a result exceeds the 32 bits");
  // The last element is in no product.
  ExpectValue(CaseOf("PROD", Value::Ints({2}, {INT32_MAX, 2}), 0)
                  .Int("wide", 1)
                  .Int("exclusive", 1),
              Value::Ints({2}, {1, INT32_MAX}));
  ExpectError(CaseOf("LOG_SUM_EXP", x, 0), MaceStatus::MACE_INVALID_ARGS,
              "LOG_SUM_EXP of integers");
}

TEST(CumulateOpTest, RefusesAnAxisThatIsNotThere) {
  const Value x = Value::Floats({2, 2}, {1, 2, 3, 4});
  ExpectError(CaseOf("MAX", x, 2), MaceStatus::MACE_INVALID_ARGS,
              "axis 2 is out of range");
}

}  // namespace
}  // namespace mace
