// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mace/ops/testing/indexing.h"
#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectValue;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

const Value kInput = Value::Floats({2, 3}, {1, 2, 3, 4, 5, 6});

OpCase To(const std::vector<int64_t> &shape) {
  return OpCase("Reshape").Input(kInput).Ints("shape", shape);
}
Value As(const Shape &shape) { return Value::Floats(shape, kInput.floats()); }

TEST(ReshapeTest, TakesTheShapeOfTheAttribute) {
  ExpectValue(To({6}), As({6}));
  ExpectValue(To({3, 2}), As({3, 2}));
  ExpectValue(To({-1, 2}), As({3, 2}));
  ExpectValue(To({1, -1, 1}), As({1, 6, 1}));
  ExpectValue(To({0, -1}), As({2, 3}));
  ExpectValue(To({-1, 0}), As({2, 3}));
  ExpectValue(OpCase("Reshape").Input(Value::Floats({1, 1}, {7})),
              Value::Floats({}, {7}));
}

TEST(ReshapeTest, TakesTheShapeOfTheInput) {
  for (const bool constant : {false, true}) {
    OpCase op_case("Reshape");
    op_case.Input(kInput);
    const Value shape = Value::Ints({2}, {-1, 2});
    ExpectValue(constant ? op_case.Constant(shape) : op_case.Known(shape),
                As({3, 2}));
  }
  ExpectValue(OpCase("Reshape")
                  .Input(Value::Ints({1}, {7}))
                  .Constant(Value::Ints({0}, {})),
              Value::Ints({}, {7}));
}

TEST(ReshapeTest, ZeroMayBeMeant) {
  const Value empty = Value::Floats({0, 3}, {});
  ExpectValue(
      OpCase("Reshape").Input(empty).Ints("shape", {0, 7}).Int("allow_zero", 1),
      Value::Floats({0, 7}, {}));
  ExpectValue(
      OpCase("Reshape").Input(empty).Ints("shape", {3, 0}).Int("allow_zero", 1),
      Value::Floats({3, 0}, {}));
}

TEST(ReshapeTest, Errors) {
  const auto bad = [](const OpCase &op_case, const char *text) {
    ExpectError(op_case, MaceStatus::MACE_INVALID_ARGS, text);
  };
  bad(To({4}), "6 elements");
  bad(To({-1, 4}), "6 elements");
  bad(To({-1, -1}), "more than one -1");
  bad(To({2, 3, 0}), "dimension 2");
  bad(To({-2, 3}), "shape");
  bad(To({1, 1, 1, 1, 1, 1, 1, 1, 6}), "9 dimensions");
  bad(To({INT64_MAX, INT64_MAX}), "6 elements");
  bad(To({2, 3}).Constant(Value::Ints({1}, {6})), "both");
  bad(OpCase("Reshape").Input(kInput).Constant(Value::Ints({1, 1}, {6})),
      "not one dimension");
  ExpectError(OpCase("Reshape").Input(kInput).Input(Value::Ints({1}, {6})),
              MaceStatus::MACE_UNSUPPORTED, "not known before the run");
}

TEST(SqueezeTest, DropsAxesOfLengthOne) {
  const std::vector<float> v = {1, 2, 3};
  const Value x = Value::Floats({1, 3, 1}, v);
  ExpectValue(OpCase("Squeeze").Input(x), Value::Floats({3}, v));
  ExpectValue(OpCase("Squeeze").Input(x).Ints("axes", {0}),
              Value::Floats({3, 1}, v));
  ExpectValue(OpCase("Squeeze").Input(x).Ints("axes", {-1, 0}),
              Value::Floats({3}, v));
  ExpectValue(OpCase("Squeeze").Known(Value::Ints({1}, {9})),
              Value::Ints({}, {9}));
}

TEST(SqueezeTest, Errors) {
  const Value x = Value::Floats({1, 3}, {1, 2, 3});
  for (const int64_t axis : {int64_t{1}, int64_t{2}, INT64_MIN}) {
    ExpectError(OpCase("Squeeze").Input(x).Ints("axes", {axis}),
                MaceStatus::MACE_INVALID_ARGS, "axis " + std::to_string(axis));
  }
}

TEST(ExpandDimsTest, InsertsAxesOfLengthOne) {
  const std::vector<float> v = {1, 2, 3, 4, 5, 6};
  const Value x = Value::Floats({2, 3}, v);
  const auto check = [&](const std::vector<int64_t> &axes, const Shape &shape) {
    ExpectValue(OpCase("ExpandDims").Input(x).Ints("axes", axes),
                Value::Floats(shape, v));
  };
  check({0}, {1, 2, 3});
  check({2}, {2, 3, 1});
  check({-1}, {2, 3, 1});
  check({0, 3}, {1, 2, 3, 1});
  check({1, -1}, {2, 1, 3, 1});
  check({}, {2, 3});
  ExpectValue(
      OpCase("ExpandDims").Known(Value::Ints({}, {9})).Ints("axes", {0}),
      Value::Ints({1}, {9}));
}

TEST(ExpandDimsTest, Errors) {
  const Value x = Value::Floats({2, 3}, std::vector<float>(6));
  const auto bad = [&](const std::vector<int64_t> &axes, const char *text) {
    ExpectError(OpCase("ExpandDims").Input(x).Ints("axes", axes),
                MaceStatus::MACE_INVALID_ARGS, text);
  };
  bad({3}, "out of range");
  bad({INT64_MIN}, "out of range");
  bad({0, -4}, "named twice");
  bad({0, 1, 2, 3, 4, 5, 6}, "9 dimensions");
}

TEST(IdentityTest, Copies) {
  Random random(22);
  const Value floats = random.Floats({3, 5, 7});
  ExpectValue(OpCase("Identity").Input(floats), floats);
  const Value large = random.Floats({100000});
  ExpectValue(OpCase("Identity").Constant(large), large);
  const Value bools = Value::Bools({3}, {1, 0, 1});
  ExpectValue(OpCase("Identity").Input(bools), bools);
  const Value none = Value::Ints({0, 2}, {});
  ExpectValue(OpCase("Identity").Input(none), none);
}

}  // namespace
}  // namespace mace
