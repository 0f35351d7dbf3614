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
using op_test::RoundToHalf;
using op_test::Tolerance;
using op_test::Value;

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
