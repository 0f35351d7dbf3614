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
using op_test::Flat;
using op_test::ForEachIndex;
using op_test::Index;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

TEST(DepthToSpaceTest, EveryOrder) {
  Random random(51);
  for (const int64_t block : {1, 2, 3, 4}) {
    for (const int64_t depth : {1, 2, 3, 5, 16, 21}) {
      for (const char *order : {"DCR", "CRD"}) {
        SCOPED_TRACE(std::string(order) + std::to_string(block) + " " +
                     std::to_string(depth));
        const Shape deep = {2, 3, 4, depth * block * block};
        const Shape wide = {2, 3 * block, 4 * block, depth};
        const Value x = random.Floats(deep);
        const std::vector<float> v = x.floats();
        std::vector<float> expected;
        ForEachIndex(wide, [&](const Index &o) {
          const int64_t i = o[1] % block;
          const int64_t j = o[2] % block;
          const int64_t channel = order[0] == 'D'
                                      ? (i * block + j) * depth + o[3]
                                      : (o[3] * block + i) * block + j;
          expected.push_back(
              v[Flat(deep, {o[0], o[1] / block, o[2] / block, channel})]);
        });
        const OpCase op_case = OpCase("DepthToSpace")
                                   .Input(x)
                                   .Int("block", block)
                                   .String("order", order);
        ExpectValue(op_case, Value::Floats(wide, expected));
        // Elements are copied whatever their type is: integers too.
        OpCase integers = op_case;
        integers.inputs[0].value.data_type = DataType::kInt32;
        Value moved = Value::Floats(wide, expected);
        moved.data_type = DataType::kInt32;
        ExpectValue(integers, moved);
      }
    }
  }
}

TEST(DepthToSpaceTest, NothingAndErrors) {
  ExpectValue(OpCase("DepthToSpace")
                  .Input(Value::Floats({0, 2, 2, 4}, {}))
                  .Int("block", 2),
              Value::Floats({0, 4, 4, 1}, {}));
  const Value x = Value::Floats({1, 3, 2, 3}, std::vector<float>(18));
  const auto invalid = MaceStatus::MACE_INVALID_ARGS;
  ExpectError(OpCase("DepthToSpace").Input(x), invalid, "block");
  ExpectError(OpCase("DepthToSpace").Input(x).Int("block", 0), invalid,
              "block");
  ExpectError(OpCase("DepthToSpace").Input(x).Int("block", 2), invalid,
              "divisible by block * block = 4");
  ExpectError(OpCase("DepthToSpace")
                  .Input(Value::Floats({4}, std::vector<float>(4)))
                  .Int("block", 2),
              invalid, "[N, H, W, C]");
}

}  // namespace
}  // namespace mace
