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
using op_test::Value;

int64_t Source(const std::string &mode, int64_t i, int64_t n) {
  // Moves step by step from outside to inside.
  if (i >= 0 && i < n) return i;
  if (mode == "CONSTANT") return -1;
  if (mode == "EDGE") return i < 0 ? 0 : n - 1;
  if (mode == "REFLECT") return i < 0 ? -i : n - 1 - (i - (n - 1));
  return i < 0 ? -1 - i : n - 1 - (i - n);
}

TEST(PadTest, EveryMode) {
  Random random(21);
  struct Case {
    Shape shape;
    std::vector<int64_t> pads;
  };
  const Case cases[] = {
      {{5}, {2, 3}},
      {{4, 3}, {0, 0, 1, 2}},
      {{4, 3}, {3, 1, 0, 0}},
      {{2, 4, 5, 3}, {0, 0, 1, 2, 3, 1, 0, 0}},
      {{2, 3, 3, 5}, {1, 0, 0, 1, 1, 1, 2, 2}},
      {{3, 1, 2}, {0, 0, 0, 0, 0, 0}},
      {{2, 3, 2, 3, 2, 5}, {1, 0, 0, 2, 1, 1, 0, 1, 1, 1, 0, 0}},
      {{2, 3, 2, 2, 3, 2}, {1, 1, 0, 0, 1, 0, 1, 1, 0, 2, 1, 1}},
  };
  for (const Case &c : cases) {
    for (const char *mode : {"CONSTANT", "REFLECT", "SYMMETRIC", "EDGE"}) {
      const Value x = random.Floats(c.shape);
      const std::vector<float> v = x.floats();
      Shape output = c.shape;
      for (size_t i = 0; i < output.rank(); ++i) {
        output[i] += c.pads[2 * i] + c.pads[2 * i + 1];
      }
      std::vector<float> expected;
      ForEachIndex(output, [&](Index index) {
        bool outside = false;
        for (size_t i = 0; i < index.size(); ++i) {
          index[i] = Source(mode, index[i] - c.pads[2 * i], c.shape[i]);
          outside |= index[i] < 0;
        }
        expected.push_back(outside ? 1.5f : v[Flat(c.shape, index)]);
      });
      SCOPED_TRACE(c.shape.ToString() + mode);
      ExpectValue(OpCase("Pad")
                      .Input(x)
                      .Ints("pads", c.pads)
                      .String("mode", mode)
                      .Float("value", 1.5f),
                  Value::Floats(output, expected));
      for (const bool bf16 : {false, true}) {
        ExpectValue(OpCase("Pad")
                        .Input(RoundToHalf(x, bf16))
                        .ComputeIn(op_test::HalfPrecision(bf16))
                        .Ints("pads", c.pads)
                        .String("mode", mode)
                        .Float("value", 1.5f),
                    RoundToHalf(Value::Floats(output, expected), bf16));
      }
    }
  }
}

TEST(PadTest, IntegersScalarsAndNothing) {
  ExpectValue(OpCase("Pad")
                  .Input(Value::Ints({1}, {5}))
                  .Ints("pads", {1, 1})
                  .Float("value", -2.9f),
              Value::Ints({3}, {-2, 5, -2}));
  ExpectValue(OpCase("Pad")
                  .Input(Value::Ints({1}, {5}))
                  .Ints("pads", {0, 1})
                  .Float("value", 1e20f),
              Value::Ints({2}, {5, INT32_MAX}));
  ExpectValue(OpCase("Pad")
                  .Input(Value::Shorts({3}, {5, -300, 9}))
                  .Ints("pads", {1, 2})
                  .Float("value", -1000),
              Value::Shorts({6}, {-1000, 5, -300, 9, -1000, -1000}));
  ExpectValue(OpCase("Pad")
                  .Input(Value::Shorts({1}, {5}))
                  .Ints("pads", {0, 1})
                  .Float("value", 1e20f),
              Value::Shorts({2}, {5, INT16_MAX}));
  ExpectValue(OpCase("Pad").Input(Value::Ints({}, {5})).Ints("pads", {}),
              Value::Ints({}, {5}));
  ExpectValue(
      OpCase("Pad").Input(Value::Floats({0, 2}, {})).Ints("pads", {1, 0, 0, 0}),
      Value::Floats({1, 2}, {0, 0}));
}

TEST(PadTest, Errors) {
  const Value x = Value::Floats({2, 3}, std::vector<float>(6));
  const auto bad = [&x](const std::vector<int64_t> &pads, const char *mode,
                        const char *text) {
    ExpectError(OpCase("Pad").Input(x).Ints("pads", pads).String("mode", mode),
                MaceStatus::MACE_INVALID_ARGS, text);
  };
  bad({1, 1}, "CONSTANT", "2 pads, not 4");
  bad({0, 0, 3, 0}, "REFLECT", "at most by 2");
  bad({0, 3, 0, 0}, "SYMMETRIC", "at most by 2");
  bad({0, 0, 0, INT64_MAX}, "CONSTANT", "axis 1");
  bad({INT64_C(1) << 40, 0, 0, 0}, "CONSTANT", "too large");
  bad({-1, 0, 0, 0}, "CONSTANT", "pads");
  ExpectError(OpCase("Pad")
                  .Input(Value::Floats({0}, {}))
                  .Ints("pads", {1, 0})
                  .String("mode", "EDGE"),
              MaceStatus::MACE_INVALID_ARGS, "at most by 0");
}

}  // namespace
}  // namespace mace
