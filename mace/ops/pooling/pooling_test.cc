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

struct ImagePool {
  Shape input;
  int64_t kernel[2];
  int64_t stride[2];
  int64_t dilation[2];
  int64_t pads[4];  // top, left, bottom, right
  bool ceil_mode;
  bool count_include_pad;
};

// The definition, one output at a time. `before` is the padding before the
// input; taps up to `after` elements after it count as padding.
std::vector<double> Reference(const ImagePool &p,
                              const Value &x,
                              bool max,
                              const Shape &output) {
  const std::vector<float> v = x.floats();
  std::vector<double> y;
  ForEachIndex(output, [&](const Index &o) {
    double best = -INFINITY;
    double sum = 0;
    int64_t inside = 0;
    int64_t padded = 0;
    for (int64_t i = 0; i < p.kernel[0]; ++i) {
      for (int64_t j = 0; j < p.kernel[1]; ++j) {
        const int64_t h = o[1] * p.stride[0] - p.pads[0] + i * p.dilation[0];
        const int64_t w = o[2] * p.stride[1] - p.pads[1] + j * p.dilation[1];
        if (h < p.input[1] + p.pads[2] && w < p.input[2] + p.pads[3]) ++padded;
        if (h < 0 || w < 0 || h >= p.input[1] || w >= p.input[2]) continue;
        ++inside;
        const double tap = v[Flat(p.input, {o[0], h, w, o[3]})];
        best = std::fmax(best, tap);
        sum += tap;
      }
    }
    if (inside == 0) {
      y.push_back(0);
    } else if (max) {
      y.push_back(best);
    } else {
      y.push_back(sum /
                  static_cast<double>(p.count_include_pad ? padded : inside));
    }
  });
  return y;
}

int64_t OutputSize(const ImagePool &p, int axis) {
  const int64_t extent = (p.kernel[axis] - 1) * p.dilation[axis] + 1;
  const int64_t size = p.input[axis + 1];
  const int64_t before = p.pads[axis];
  const int64_t slack = size + before + p.pads[axis + 2] - extent;
  if (!p.ceil_mode) return slack / p.stride[axis] + 1;
  int64_t output = (slack + p.stride[axis] - 1) / p.stride[axis] + 1;
  while ((output - 1) * p.stride[axis] >= size + before) --output;
  return output;
}

OpCase MakeCase(const ImagePool &p, const Value &x, bool max) {
  return OpCase("Pooling")
      .Input(x)
      .String("mode", max ? "MAX" : "AVG")
      .Ints("kernels", {p.kernel[0], p.kernel[1]})
      .Ints("strides", {p.stride[0], p.stride[1]})
      .Ints("dilations", {p.dilation[0], p.dilation[1]})
      .String("padding", "EXPLICIT")
      .Ints("pads", {p.pads[0], p.pads[1], p.pads[2], p.pads[3]})
      .Int("ceil_mode", p.ceil_mode ? 1 : 0)
      .Int("count_include_pad", p.count_include_pad ? 1 : 0);
}

// In each mode, and in 16 bits.
void ExpectReference(const ImagePool &p, Random *random) {
  const Value x = random->Floats(p.input, -2, 1);
  const Shape output = {p.input[0], OutputSize(p, 0), OutputSize(p, 1),
                        p.input[3]};
  ExpectFloats(MakeCase(p, x, true), output, Reference(p, x, true, output), {});
  // At most 28 additions in a chain, of numbers up to 2.
  ExpectFloats(MakeCase(p, x, false), output, Reference(p, x, false, output),
               {2e-6, 0});
  // In 16 bits, where everything except the average is exact; other
  // processors compute in float.
  for (bool bf16 : {false, true}) {
    const Value half = op_test::RoundToHalf(x, bf16);
    const Precision precision = op_test::HalfPrecision(bf16);
    ExpectFloats(MakeCase(p, half, true).ComputeIn(precision), output,
                 Reference(p, half, true, output), {});
    ExpectFloats(MakeCase(p, half, false).ComputeIn(precision), output,
                 Reference(p, half, false, output),
                 {2e-6, op_test::HalfError(bf16)});
  }
}

TEST(PoolingTest, MatchesTheReference) {
  Random random(11);
  for (const int64_t channels : {1, 3, 8, 17, 64, 150}) {
    const ImagePool pools[] = {
        {{1, 7, 7, channels}, {3, 3}, {2, 2}, {1, 1}, {0, 0, 0, 0}, 0, 0},
        {{2, 8, 9, channels}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, 0, 1},
        {{2, 8, 9, channels}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, 1, 0},
        {{2, 8, 9, channels}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, 1, 1},
        {{1, 5, 6, channels}, {2, 3}, {3, 1}, {2, 2}, {1, 0, 0, 2}, 1, 1},
        {{1, 4, 4, channels}, {1, 1}, {3, 3}, {1, 1}, {0, 0, 0, 0}, 1, 0},
        {{1, 14, 14, channels}, {14, 14}, {1, 1}, {1, 1}, {0, 0, 0, 0}, 0, 0},
        {{3, 6, 5, channels}, {6, 5}, {6, 5}, {1, 1}, {0, 0, 0, 0}, 0, 0},
        {{1, 3, 12, channels}, {3, 5}, {1, 2}, {1, 1}, {2, 4, 2, 4}, 0, 1},
    };
    for (const ImagePool &p : pools) ExpectReference(p, &random);
  }
}

// Along lines, in more than one part.
TEST(PoolingTest, LongWindowsOfFewChannels) {
  Random random(15);
  for (const int64_t channels : {1, 3, 7}) {
    const ImagePool pools[] = {
        {{1, 3, 139, channels}, {2, 9}, {1, 1}, {1, 1}, {1, 4, 0, 4}, 0, 0},
        {{1, 2, 21, channels}, {1, 4}, {1, 1}, {1, 1}, {0, 0, 0, 3}, 0, 0},
        {{1, 2, 40, channels}, {2, 16}, {1, 1}, {1, 1}, {0, 15, 0, 0}, 0, 1},
    };
    for (const ImagePool &p : pools) ExpectReference(p, &random);
  }
}

TEST(PoolingTest, SamePadding) {
  Random random(12);
  for (const int64_t size : {5, 6}) {
    for (const bool lower : {false, true}) {
      const Value x = random.Floats({1, size, size, 5}, -3, -1);
      // SAME with kernel 3 and stride 2 over 6 elements needs one element of
      // padding: before the input only for SAME_LOWER; over 5 elements it needs
      // one on each side.
      const int64_t before = size == 5 || lower ? 1 : 0;
      const int64_t after = size == 5 || !lower ? 1 : 0;
      const ImagePool p = {{1, size, size, 5},
                           {3, 3},
                           {2, 2},
                           {1, 1},
                           {before, before, after, after},
                           false,
                           false};
      const Shape output = {1, 3, 3, 5};
      for (const bool max : {false, true}) {
        ExpectFloats(OpCase("Pooling")
                         .Input(x)
                         .String("mode", max ? "MAX" : "AVG")
                         .Ints("kernels", {3, 3})
                         .Ints("strides", {2, 2})
                         .String("padding", lower ? "SAME_LOWER" : "SAME"),
                     output, Reference(p, x, max, output), {1e-6, 0});
      }
    }
  }
}

TEST(PoolingTest, AWindowOfPaddingAloneIsZero) {
  // Taps at -1 and 1 of an input with one element.
  const Value x = Value::Floats({1, 1, 1, 2}, {-5, 7});
  for (const char *mode : {"MAX", "AVG"}) {
    ExpectFloats(OpCase("Pooling")
                     .Input(x)
                     .String("mode", mode)
                     .Ints("kernels", {1, 2})
                     .Ints("dilations", {1, 2})
                     .String("padding", "EXPLICIT")
                     .Ints("pads", {0, 1, 0, 1}),
                 {1, 1, 1, 2}, {0, 0}, {});
  }
}

TEST(PoolingTest, NanAndInfinity) {
  const float nan = std::nanf("");
  const Value x =
      Value::Floats({1, 1, 3, 2}, {1, -INFINITY, nan, -INFINITY, 2, -INFINITY});
  ExpectFloats(OpCase("Pooling").Input(x).Ints("kernels", {1, 3}), {1, 1, 1, 2},
               {nan, -INFINITY}, {});
}

// The error of a large average must not grow with the number of elements.
TEST(PoolingTest, LargeAveragesStayExact) {
  const int64_t size = 300;
  const Value x =
      Value::Floats({1, size, size, 1},
                    std::vector<float>(static_cast<size_t>(size * size), 0.1f));
  ExpectFloats(OpCase("Pooling")
                   .Input(x)
                   .String("mode", "AVG")
                   .Ints("kernels", {size, size}),
               {1, 1, 1, 1}, {double{0.1f}}, {0, 2e-6});
}

TEST(PoolingTest, OfNothing) {
  for (const Shape &shape : {Shape({1, 0, 0, 1}), Shape({2, 3, 4, 0})}) {
    ExpectValue(OpCase("Pooling")
                    .Input(Value::Floats(shape, {}))
                    .Ints("kernels", {1, 1}),
                Value::Floats(shape, {}));
  }
}

TEST(PoolingTest, Errors) {
  const Value x = Value::Floats({1, 2, 3, 1}, std::vector<float>(6));
  ExpectError(OpCase("Pooling").Input(x).Ints("kernels", {3, 1}),
              MaceStatus::MACE_INVALID_ARGS, "height");
  ExpectError(OpCase("Pooling").Input(x), MaceStatus::MACE_INVALID_ARGS,
              "kernels");
  ExpectError(OpCase("Pooling").Input(x).Ints("kernels", {0, 1}),
              MaceStatus::MACE_INVALID_ARGS, "kernels");
  ExpectError(OpCase("Pooling")
                  .Input(Value::Floats({2, 3}, std::vector<float>(6)))
                  .Ints("kernels", {1, 1}),
              MaceStatus::MACE_INVALID_ARGS, "[N, H, W, C]");
}

using Three = std::array<int64_t, 3>;

struct VolumePool {
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
std::vector<double> VolumeReference(const VolumePool &p,
                                    const Value &x,
                                    bool max) {
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

OpCase CaseOf(const VolumePool &p, const Value &x, bool max) {
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
  const VolumePool pools[] = {
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
  for (const VolumePool &plain : pools) {
    for (int ways = 0; ways < 4; ++ways) {
      VolumePool p = plain;
      p.ceil_mode = ways % 2 == 1;
      p.count_include_pad = ways / 2 == 1;
      SCOPED_TRACE(testing::Message() << p.input.ToString() << " " << ways);
      const Value x = random.Floats(p.input, -2, 1);
      if (ways < 2) {
        ExpectFloats(CaseOf(p, x, true), p.OutputShape(),
                     VolumeReference(p, x, true), {});
      }
      // At most 27 additions in a chain, of numbers up to 2.
      ExpectFloats(CaseOf(p, x, false), p.OutputShape(),
                   VolumeReference(p, x, false), {4e-6, 0});
    }
  }
}

TEST(VolumePoolingTest, NanInAWindowGivesNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (size_t at = 0; at < 8; ++at) {
    std::vector<float> x(8, 1.0f);
    x[at] = nan;
    const VolumePool p = {{1, 1, 2, 2, 2}, {2, 2, 2}};
    for (bool max : {false, true}) {
      ExpectValue(CaseOf(p, Value::Floats(p.input, x), max),
                  Value::Floats({1, 1, 1, 1, 1}, {nan}));
    }
  }
}

TEST(VolumePoolingTest, EmptyInputsHaveEmptyOutputs) {
  const VolumePool p = {{1, 0, 2, 2, 2}, {2, 2, 2}};
  ExpectValue(CaseOf(p, Value::Floats(p.input, {}), true),
              Value::Floats({1, 0, 1, 1, 1}, {}));
}

TEST(VolumePoolingTest, ExplainsWhatDoesNotFit) {
  Random random(1);
  const VolumePool p = {{1, 1, 2, 4, 4}, {3, 2, 2}};
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
