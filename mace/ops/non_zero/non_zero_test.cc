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
using op_test::ExpectValues;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

// Divides the index of each element that is not 0 by the dimensions behind.
void Check(const Value &input, const std::vector<bool> &counts) {
  const Shape &shape = input.shape;
  const int64_t most = shape.Elements();
  const auto rank = static_cast<int64_t>(shape.rank());
  std::vector<int32_t> positions(static_cast<size_t>(rank * most), 0);
  int32_t found = 0;
  for (int64_t i = 0; i < most; ++i) {
    if (!counts[static_cast<size_t>(i)]) continue;
    for (int64_t d = 0; d < rank; ++d) {
      const auto axis = static_cast<size_t>(d);
      positions[static_cast<size_t>(d * most + found)] = static_cast<int32_t>(
          i / shape.Elements(axis + 1, shape.rank()) % shape[axis]);
    }
    ++found;
  }
  ExpectValues(
      OpCase("NonZero", 2).Input(input),
      {Value::Ints({rank, most}, positions), Value::Ints({1}, {found})});
}

const Shape kShapes[] = {{7},          {1},       {0},       {3, 5},
                         {2, 3, 4, 5}, {3, 0, 2}, {2, 1, 1}, {300, 2}};

TEST(NonZeroOpTest, FindsElementsOfEveryType) {
  Random random(1);
  for (const Shape &shape : kShapes) {
    for (const int32_t high : {0, 1, 9}) {
      SCOPED_TRACE(testing::Message() << shape.ToString() << " " << high);
      const Value ints = random.Ints(shape, high == 9 ? 1 : 0, high);
      std::vector<bool> counts;
      std::vector<float> floats;
      std::vector<uint8_t> bools;
      for (const int32_t v : ints.ints()) {
        counts.push_back(v != 0);
        floats.push_back(static_cast<float>(v));
        bools.push_back(v != 0 ? 1 : 0);
      }
      Check(ints, counts);
      Check(Value::Floats(shape, floats), counts);
      Check(Value::Bools(shape, bools), counts);
      Check(Value::Bytes(DataType::kUint8, shape, ints.ints()), counts);
      Check(Value::Bytes(DataType::kInt8, shape, ints.ints()), counts);
    }
  }
}

TEST(NonZeroOpTest, NanIsNotZeroAndMinusZeroIs) {
  Check(Value::Floats({5}, {NAN, -0.0f, 1e-40f, 0.0f, -HUGE_VALF}),
        {true, false, true, false, true});
}

TEST(NonZeroOpTest, Errors) {
  ExpectError(OpCase("NonZero", 2).Input(Value::Ints({}, {1})),
              MaceStatus::MACE_INVALID_ARGS, "the input has no dimensions");
}

}  // namespace
}  // namespace mace
