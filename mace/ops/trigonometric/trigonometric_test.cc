// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectFloats;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

struct Tested {
  const char *mode;
  double (*reference)(double);
  float low;
  float high;
};

constexpr Tested kModes[] = {
    {"ASIN", &std::asin, -1, 1},   {"ACOS", &std::acos, -1, 1},
    {"ATAN", &std::atan, -9, 9},   {"SINH", &std::sinh, -9, 9},
    {"COSH", &std::cosh, -9, 9},   {"ASINH", &std::asinh, -9, 9},
    {"ACOSH", &std::acosh, 1, 99}, {"ATANH", &std::atanh, -1, 1},
};

// trig_test measures errors of up to 4 ulp.
TEST(TrigonometricTest, EveryMode) {
  Random random(1);
  for (const Tested &tested : kModes) {
    for (const Shape &shape :
         {Shape{}, Shape{7}, Shape{3, 0}, Shape{2, 3, 5, 33}, Shape{9, 999}}) {
      const Value x = random.Floats(shape, tested.low, tested.high);
      std::vector<double> expected;
      for (const float v : x.floats()) expected.push_back(tested.reference(v));
      ExpectFloats(OpCase("Trigonometric").Input(x).String("mode", tested.mode),
                   shape, expected, {0x1p-126, 4 * 0x1p-23});
    }
  }
}

TEST(TrigonometricTest, OutsideTheDomain) {
  const Value x = Value::Floats({2}, {2, -2});
  for (const char *mode : {"ASIN", "ACOS", "ATANH"}) {
    ExpectFloats(OpCase("Trigonometric").Input(x).String("mode", mode), {2},
                 {NAN, NAN}, {0, 0});
  }
}

TEST(TrigonometricTest, Errors) {
  const Value x = Value::Floats({1}, {0});
  ExpectError(OpCase("Trigonometric").Input(x), MaceStatus::MACE_INVALID_ARGS,
              "mode");
  ExpectError(OpCase("Trigonometric").Input(x).String("mode", "SEC"),
              MaceStatus::MACE_INVALID_ARGS, "SEC");
}

}  // namespace
}  // namespace mace
