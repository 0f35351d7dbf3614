// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdint>
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

struct Window {
  Shape input;
  std::vector<int64_t> kernels;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilations;
  std::vector<int64_t> pads;  // top, left, bottom, right
  Shape output;
};

// The definition, one element at a time.
std::vector<float> Reference(const Window &w, const Value &x, float outside) {
  const std::vector<float> v = x.floats();
  const int64_t channels = w.input[3];
  std::vector<float> y;
  ForEachIndex(w.output, [&](const Index &o) {
    const int64_t tap = o[3] / channels;
    const int64_t row =
        o[1] * w.strides[0] - w.pads[0] + tap / w.kernels[1] * w.dilations[0];
    const int64_t column =
        o[2] * w.strides[1] - w.pads[1] + tap % w.kernels[1] * w.dilations[1];
    const bool inside =
        row >= 0 && column >= 0 && row < w.input[1] && column < w.input[2];
    y.push_back(inside ? v[Flat(w.input, {o[0], row, column, o[3] % channels})]
                       : outside);
  });
  return y;
}

OpCase CaseOf(const Window &w, const Value &x) {
  return OpCase("Im2Col")
      .Input(x)
      .Ints("kernels", w.kernels)
      .Ints("strides", w.strides)
      .Ints("dilations", w.dilations)
      .String("padding", "EXPLICIT")
      .Ints("pads", w.pads);
}

const Window kWindows[] = {
    {{2, 5, 6, 3}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, {2, 5, 6, 27}},
    {{1, 5, 7, 4}, {2, 3}, {2, 3}, {1, 1}, {0, 2, 1, 0}, {1, 3, 3, 24}},
    {{1, 6, 7, 1}, {3, 2}, {1, 2}, {2, 3}, {2, 3, 2, 3}, {1, 6, 5, 6}},
    // A window that is wider than the image, and one in the padding alone.
    {{1, 2, 2, 5}, {1, 5}, {1, 1}, {1, 1}, {0, 3, 0, 3}, {1, 2, 4, 25}},
    {{1, 2, 2, 2}, {1, 1}, {1, 1}, {1, 1}, {1, 2, 1, 2}, {1, 4, 6, 2}},
    {{0, 2, 2, 2}, {1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}, {0, 2, 2, 2}},
};

TEST(Im2ColTest, Windows) {
  Random random(53);
  for (const Window &w : kWindows) {
    SCOPED_TRACE(w.input.ToString());
    const Value x = random.Floats(w.input);
    ExpectValue(CaseOf(w, x), Value::Floats(w.output, Reference(w, x, 0)));
    for (const Shape &shape : {Shape(), Shape({1})}) {
      ExpectValue(CaseOf(w, x).Input(Value::Floats(shape, {2.5f})),
                  Value::Floats(w.output, Reference(w, x, 2.5f)));
    }
  }
}

TEST(Im2ColTest, Bytes) {
  for (const Window &w : kWindows) {
    SCOPED_TRACE(w.input.ToString());
    std::vector<float> numbers;
    for (int64_t i = 0; i < w.input.Elements(); ++i) {
      numbers.push_back(static_cast<float>(i * 7 % 251));
    }
    const std::vector<float> wanted =
        Reference(w, Value::Floats(w.input, numbers), 131);
    const auto bytes = [](const Shape &shape, const std::vector<float> &from) {
      return Value::Of<uint8_t>(DataType::kUint8, shape,
                                std::vector<uint8_t>(from.begin(), from.end()));
    };
    ExpectValue(CaseOf(w, bytes(w.input, numbers)).Input(bytes({}, {131})),
                bytes(w.output, wanted));
  }
}

TEST(Im2ColTest, Errors) {
  const auto invalid = MaceStatus::MACE_INVALID_ARGS;
  const Value x = Value::Floats({1, 3, 2, 3}, std::vector<float>(18));
  ExpectError(OpCase("Im2Col").Input(x), invalid, "kernels");
  ExpectError(OpCase("Im2Col").Input(x).Ints("kernels", {4, 1}), invalid, "4");
  const Value two = Value::Floats({2}, {0, 0});
  ExpectError(OpCase("Im2Col").Input(x).Input(two).Ints("kernels", {1, 1}),
              invalid, "outside must be one number");
  ExpectError(OpCase("Im2Col").Input(two).Ints("kernels", {1, 1}), invalid,
              "[N, H, W, C]");
}

}  // namespace
}  // namespace mace
