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
using op_test::Tolerance;
using op_test::Value;

TEST(BatchNormTest, ScalesAndShiftsByChannel) {
  Random random(4);
  for (const int64_t channels : {1, 3, 8, 17, 64}) {
    for (const Shape &shape :
         {Shape{channels}, Shape{5, channels}, Shape{2, 3, 4, channels}}) {
      const Value x = random.Floats(shape);
      const Value scale = random.Floats({channels});
      const Value offset = random.Floats({channels});
      for (const char *activation : {"NONE", "RELU", "LEAKY_RELU"}) {
        std::vector<double> expected;
        for (size_t i = 0; i < x.floats().size(); ++i) {
          const auto c = static_cast<int64_t>(i) % channels;
          double y =
              double{x.floats()[i]} * scale.floats()[c] + offset.floats()[c];
          if (y < 0 && std::string(activation) == "RELU") y = 0;
          if (y < 0 && std::string(activation) == "LEAKY_RELU") y *= 0.5;
          expected.push_back(y);
        }
        // Two roundings of numbers up to 2.
        ExpectFloats(OpCase("BatchNorm")
                         .Input(x)
                         .Constant(scale)
                         .Constant(offset)
                         .String("activation", activation)
                         .Float("activation_alpha", 0.5f),
                     shape, expected, {3e-7, 0});
      }
    }
  }
}

TEST(BatchNormTest, Errors) {
  const Value x = Value::Floats({2, 3}, std::vector<float>(6));
  const Value three = Value::Floats({3}, {1, 2, 3});
  const Value two = Value::Floats({2}, {1, 2});
  ExpectError(OpCase("BatchNorm").Input(x).Constant(three).Constant(two),
              MaceStatus::MACE_INVALID_ARGS, "offset [2]");
  ExpectError(OpCase("BatchNorm").Input(x).Constant(two).Constant(three),
              MaceStatus::MACE_INVALID_ARGS, "[2, 3]");
  ExpectError(OpCase("BatchNorm")
                  .Input(x)
                  .Constant(three)
                  .Constant(three)
                  .String("activation", "PRELU"),
              MaceStatus::MACE_INVALID_ARGS, "PRELU");
}

}  // namespace
}  // namespace mace
