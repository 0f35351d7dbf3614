// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "mace/ops/testing/indexing.h"
#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectFloats;
using op_test::ExpectValue;
using op_test::Flat;
using op_test::ForEachIndex;
using op_test::Index;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

using Three = std::array<int64_t, 3>;

struct Pool {
  Shape input;
  Three kernel;
  Three stride = {1, 1, 1};
  Three dilation = {1, 1, 1};
  Three before = {0, 0, 0};
  Three after = {0, 0, 0};
  bool ceil_mode = false;
  bool count_include_pad = false;

  int64_t Output(size_t axis) const {
    const int64_t extent = (kernel[axis] - 1) * dilation[axis] + 1;
    const int64_t size = input[axis + 2];
    const int64_t slack = size + before[axis] + after[axis] - extent;
    if (!ceil_mode) return slack / stride[axis] + 1;
    int64_t output = (slack + stride[axis] - 1) / stride[axis] + 1;
    while ((output - 1) * stride[axis] >= size + before[axis]) --output;
    return output;
  }
  Shape OutputShape() const {
    return {input[0], input[1], Output(0), Output(1), Output(2)};
  }
};

// The definition, one output at a time.
std::vector<double> Reference(const Pool &p, const Value &x, bool max) {
  const std::vector<float> v = x.floats();
  std::vector<double> y;
  ForEachIndex(p.OutputShape(), [&](const Index &o) {
    double best = -INFINITY;
    double sum = 0;
    int64_t inside = 0;
    int64_t padded = 0;
    const Shape window = {p.kernel[0], p.kernel[1], p.kernel[2]};
    ForEachIndex(window, [&](const Index &tap) {
      Index at = o;
      bool is_padded = true;
      bool is_inside = true;
      for (size_t i = 0; i < 3; ++i) {
        at[i + 2] =
            o[i + 2] * p.stride[i] - p.before[i] + tap[i] * p.dilation[i];
        is_padded &= at[i + 2] < p.input[i + 2] + p.after[i];
        is_inside &= at[i + 2] >= 0 && at[i + 2] < p.input[i + 2];
      }
      padded += is_padded ? 1 : 0;
      if (!is_inside) return;
      ++inside;
      const double element = v[Flat(p.input, at)];
      best = std::fmax(best, element);
      sum += element;
    });
    const int64_t count = p.count_include_pad ? padded : inside;
    y.push_back(inside == 0 ? 0
                : max       ? best
                            : sum / static_cast<double>(count));
  });
  return y;
}

OpCase CaseOf(const Pool &p, const Value &x, bool max) {
  const auto list = [](const Three &a) {
    return std::vector<int64_t>(a.begin(), a.end());
  };
  std::vector<int64_t> pads = list(p.before);
  pads.insert(pads.end(), p.after.begin(), p.after.end());
  return OpCase("VolumePooling")
      .Input(x)
      .String("mode", max ? "MAX" : "AVG")
      .Ints("kernels", list(p.kernel))
      .Ints("strides", list(p.stride))
      .Ints("dilations", list(p.dilation))
      .Ints("pads", pads)
      .Int("ceil_mode", p.ceil_mode ? 1 : 0)
      .Int("count_include_pad", p.count_include_pad ? 1 : 0);
}

TEST(VolumePoolingTest, MatchesTheReference) {
  Random random(11);
  const Pool pools[] = {
      {{1, 2, 4, 6, 8}, {2, 2, 2}, {2, 2, 2}},
      {{1, 1, 4, 6, 70}, {2, 2, 2}, {2, 2, 2}},
      {{2, 3, 5, 7, 33}, {3, 3, 3}, {2, 2, 2}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
      {{2, 3, 5, 7, 9}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
      {{1, 2, 3, 4, 40}, {1, 2, 2}, {1, 2, 2}},
      {{1, 2, 3, 4, 18}, {2, 1, 1}},
      {{1, 1, 5, 6, 20}, {2, 3, 3}, {3, 1, 3}, {2, 2, 2}, {1, 0, 1}, {0, 2, 2}},
      {{1, 2, 2, 3, 19}, {1, 1, 4}, {1, 1, 5}},
      // Windows of padding only.
      {{1, 1, 3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
      // More rows than are between the steps.
      {{1, 1, 1, 80, 5}, {1, 3, 2}, {1, 1, 1}},
      {{1, 1, 2, 3, 6000}, {2, 2, 2}, {2, 1, 2}},
  };
  for (const Pool &plain : pools) {
    for (int ways = 0; ways < 4; ++ways) {
      Pool p = plain;
      p.ceil_mode = ways % 2 == 1;
      p.count_include_pad = ways / 2 == 1;
      SCOPED_TRACE(testing::Message() << p.input.ToString() << " " << ways);
      const Value x = random.Floats(p.input, -2, 1);
      if (ways < 2) {
        ExpectFloats(CaseOf(p, x, true), p.OutputShape(), Reference(p, x, true),
                     {});
      }
      // At most 27 additions in a chain, of numbers up to 2.
      ExpectFloats(CaseOf(p, x, false), p.OutputShape(), Reference(p, x, false),
                   {4e-6, 0});
    }
  }
}

TEST(VolumePoolingTest, NanInAWindowGivesNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (size_t at = 0; at < 8; ++at) {
    std::vector<float> x(8, 1.0f);
    x[at] = nan;
    const Pool p = {{1, 1, 2, 2, 2}, {2, 2, 2}};
    for (bool max : {false, true}) {
      ExpectValue(CaseOf(p, Value::Floats(p.input, x), max),
                  Value::Floats({1, 1, 1, 1, 1}, {nan}));
    }
  }
}

TEST(VolumePoolingTest, EmptyInputsHaveEmptyOutputs) {
  const Pool p = {{1, 0, 2, 2, 2}, {2, 2, 2}};
  ExpectValue(CaseOf(p, Value::Floats(p.input, {}), true),
              Value::Floats({1, 0, 1, 1, 1}, {}));
}

TEST(VolumePoolingTest, ExplainsWhatDoesNotFit) {
  Random random(1);
  const Pool p = {{1, 1, 2, 4, 4}, {3, 2, 2}};
  ExpectError(CaseOf(p, random.Floats(p.input), true),
              MaceStatus::MACE_INVALID_ARGS,
              "a window of 3 elements, 1 apart, does not fit into the depth of "
              "2 with padding 0 + 0");
  ExpectError(CaseOf(p, random.Floats({1, 2, 4, 4}), true),
              MaceStatus::MACE_INVALID_ARGS,
              "expects [N, C, D, H, W], not [1, 2, 4, 4]");
}

}  // namespace
}  // namespace mace
