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
using op_test::RoundToHalf;
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

TEST(SpaceToDepthTest, EveryOrder) {
  Random random(52);
  for (const int64_t block : {1, 2, 3, 4}) {
    for (const int64_t depth : {1, 2, 3, 5, 16, 21}) {
      for (const char *order : {"DCR", "CRD"}) {
        SCOPED_TRACE(std::string(order) + std::to_string(block) + " " +
                     std::to_string(depth));
        const Shape deep = {2, 3, 4, depth * block * block};
        const Shape wide = {2, 3 * block, 4 * block, depth};
        const Value x = random.Floats(wide);
        const std::vector<float> v = x.floats();
        std::vector<float> expected;
        ForEachIndex(deep, [&](const Index &o) {
          const int64_t place =
              order[0] == 'D' ? o[3] / depth : o[3] % (block * block);
          const int64_t d =
              order[0] == 'D' ? o[3] % depth : o[3] / (block * block);
          expected.push_back(v[Flat(wide, {o[0], o[1] * block + place / block,
                                           o[2] * block + place % block, d})]);
        });
        const OpCase op_case = OpCase("SpaceToDepth")
                                   .Input(x)
                                   .Int("block", block)
                                   .String("order", order);
        ExpectValue(op_case, Value::Floats(deep, expected));
        // Elements are copied whatever their type is: integers too.
        OpCase integers = op_case;
        integers.inputs[0].value.data_type = DataType::kInt32;
        Value moved = Value::Floats(deep, expected);
        moved.data_type = DataType::kInt32;
        ExpectValue(integers, moved);
      }
    }
  }
}

TEST(SpaceToDepthTest, NothingAndErrors) {
  ExpectValue(OpCase("SpaceToDepth")
                  .Input(Value::Floats({0, 2, 2, 4}, {}))
                  .Int("block", 2),
              Value::Floats({0, 1, 1, 16}, {}));
  const Value x = Value::Floats({1, 3, 2, 3}, std::vector<float>(18));
  const auto invalid = MaceStatus::MACE_INVALID_ARGS;
  ExpectError(OpCase("SpaceToDepth").Input(x), invalid, "block");
  ExpectError(OpCase("SpaceToDepth").Input(x).Int("block", 0), invalid,
              "block");
  ExpectError(OpCase("SpaceToDepth").Input(x).Int("block", 2), invalid,
              "divisible by block = 2");
  ExpectError(OpCase("SpaceToDepth")
                  .Input(Value::Floats({4}, std::vector<float>(4)))
                  .Int("block", 2),
              invalid, "[N, H, W, C]");
}

TEST(ChannelShuffleTest, TransposesGroups) {
  Random random(15);
  for (const int64_t groups : {1, 2, 3, 4, 8}) {
    for (const int64_t size : {1, 2, 5, 29}) {
      const int64_t channels = groups * size;
      const Shape shape = {2, 3, 5, channels};
      const Value x = random.Floats(shape);
      const std::vector<float> v = x.floats();
      std::vector<float> expected(v.size());
      for (size_t i = 0; i < v.size(); ++i) {
        const auto c = static_cast<int64_t>(i) % channels;
        const size_t pixel = i - static_cast<size_t>(c);
        // Output channel s * groups + g is input channel g * size + s.
        expected[i] = v[pixel + c % groups * size + c / groups];
      }
      ExpectValue(OpCase("ChannelShuffle").Input(x).Int("groups", groups),
                  Value::Floats(shape, expected));
      for (const bool bf16 : {false, true}) {
        ExpectValue(OpCase("ChannelShuffle")
                        .Input(RoundToHalf(x, bf16))
                        .ComputeIn(op_test::HalfPrecision(bf16))
                        .Int("groups", groups),
                    RoundToHalf(Value::Floats(shape, expected), bf16));
      }
    }
  }
}

TEST(ChannelShuffleTest, Errors) {
  ExpectError(OpCase("ChannelShuffle")
                  .Input(Value::Floats({1, 1, 1, 3}, {1, 2, 3}))
                  .Int("groups", 2),
              MaceStatus::MACE_INVALID_ARGS, "groups = 2");
  ExpectError(OpCase("ChannelShuffle")
                  .Input(Value::Floats({4}, {1, 2, 3, 4}))
                  .Int("groups", 2),
              MaceStatus::MACE_INVALID_ARGS, "[N, H, W, C]");
  ExpectError(OpCase("ChannelShuffle")
                  .Input(Value::Floats({1, 1, 1, 3}, {1, 2, 3}))
                  .Int("groups", 0),
              MaceStatus::MACE_INVALID_ARGS, "groups");
}

}  // namespace
}  // namespace mace
