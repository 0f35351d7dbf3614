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

TEST(TransposeTest, EveryPermutation) {
  Random random(14);
  for (const Shape &shape :
       {Shape{}, Shape{5}, Shape{37, 65}, Shape{3, 1, 5}, Shape{2, 9, 7, 33},
        Shape{1, 130, 3, 70}, Shape{2, 3, 1, 4, 5}}) {
    const Value x = random.Ints(shape, -1000, 1000);
    const std::vector<int32_t> v = x.ints();
    std::vector<int64_t> perm(shape.rank());
    for (size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int64_t>(i);
    do {
      Shape output;
      for (const int64_t axis : perm) output.Append(shape[axis]);
      std::vector<int32_t> expected;
      ForEachIndex(output, [&](const Index &o) {
        Index in(perm.size());
        for (size_t i = 0; i < perm.size(); ++i) in[perm[i]] = o[i];
        expected.push_back(v[Flat(shape, in)]);
      });
      SCOPED_TRACE(shape.ToString() + " to " + output.ToString());
      ExpectValue(OpCase("Transpose").Input(x).Ints("perm", perm),
                  Value::Ints(output, expected));
    } while (std::next_permutation(perm.begin(), perm.end()));
  }
}

TEST(TransposeTest, MovesFloatBitsUntouched) {
  const float nan = std::nanf("1");
  ExpectValue(OpCase("Transpose")
                  .Input(Value::Floats({2, 2}, {nan, -0.0f, 1e-45f, 2}))
                  .Ints("perm", {1, 0}),
              Value::Floats({2, 2}, {nan, 1e-45f, -0.0f, 2}));
}

TEST(TransposeTest, Errors) {
  const Value x = Value::Floats({2, 3}, std::vector<float>(6));
  for (const std::vector<int64_t> &perm :
       {std::vector<int64_t>{0}, {0, 0}, {0, 2}, {0, 1, 2}}) {
    ExpectError(OpCase("Transpose").Input(x).Ints("perm", perm),
                MaceStatus::MACE_INVALID_ARGS, "each of the 2 axes");
  }
}

}  // namespace
}  // namespace mace
