// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Compares convolutions of int16 with the definition of their arithmetic, to
// the bit, on every instruction set.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectValue;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

constexpr float kInputScale = 0.0004f;
constexpr float kLimit = 6.0f;

struct Layer {
  int64_t batch = 1;
  int64_t rows = 7;
  int64_t columns = 9;
  int64_t channels = 6;
  int64_t outputs = 20;
  int64_t kernel = 3;
  int64_t stride = 1;
  int64_t pad = 1;
  int64_t groups = 1;
  int32_t input_zero = 0;
  int32_t output_zero = 0;
  float output_scale = 0.0007f;
  bool bias = true;
  bool packed = false;
  // All elements and weights are the least ones of their types.
  bool extreme = false;
  std::string activation = "NONE";
};

class Int16Layer {
 public:
  explicit Int16Layer(const Layer &layer)
      : l_(layer), depth_(layer.channels / layer.groups) {
    Random random(23, Random::Quiet());
    const int32_t high = l_.extreme ? INT16_MIN : INT16_MAX;
    image_ = random.Ints(ImageShape(), INT16_MIN, high).ints();
    filter_ =
        random.Ints(FilterShape(), INT8_MIN, l_.extreme ? INT8_MIN : INT8_MAX)
            .ints();
    for (int64_t o = 0; o < l_.outputs; ++o) {
      bias_.push_back(
          l_.bias ? static_cast<int32_t>(random.Int(-3000000, 3000000)) : 0);
      scales_.push_back(random.Float(0.0005f, 0.003f));
    }
  }

  OpCase Case() const {
    OpCase op("Conv2D");
    op.Input(Value::Shorts(ImageShape(), image_))
        .Quantized({{kInputScale}, {l_.input_zero}, 0});
    const Value filter = Value::Bytes(DataType::kInt8, FilterShape(), filter_);
    if (l_.packed) {
      op.PackedFours(filter, l_.groups);
    } else {
      op.Constant(filter);
    }
    op.Quantized({scales_, {}, 0});
    if (l_.bias) {
      std::vector<float> of_sums;
      for (float scale : scales_) of_sums.push_back(kInputScale * scale);
      op.Constant(Value::Ints({l_.outputs}, bias_)).Quantized({of_sums, {}, 0});
    }
    op.Ints("strides", {l_.stride, l_.stride})
        .String("padding", "EXPLICIT")
        .Ints("pads", {l_.pad, l_.pad, l_.pad, l_.pad})
        .Int("groups", l_.groups)
        .String("activation", l_.activation)
        .Float("activation_limit", kLimit)
        .QuantizedOutput(DataType::kInt16, l_.output_scale, l_.output_zero)
        .OnCpuOnly();
    return op;
  }

  Value Wanted() const {
    const int64_t height = (l_.rows + 2 * l_.pad - l_.kernel) / l_.stride + 1;
    const int64_t width = (l_.columns + 2 * l_.pad - l_.kernel) / l_.stride + 1;
    std::vector<int32_t> wanted;
    for (int64_t n = 0; n < l_.batch; ++n) {
      for (int64_t y = 0; y < height; ++y) {
        for (int64_t x = 0; x < width; ++x) {
          for (int64_t o = 0; o < l_.outputs; ++o) {
            wanted.push_back(ResultOf(SumAt(n, y, x, o), o));
          }
        }
      }
    }
    return Value::Shorts({l_.batch, height, width, l_.outputs}, wanted);
  }

 private:
  Shape ImageShape() const {
    return {l_.batch, l_.rows, l_.columns, l_.channels};
  }
  Shape FilterShape() const {
    return {l_.outputs, l_.kernel, l_.kernel, depth_};
  }

  int64_t SumAt(int64_t n, int64_t y, int64_t x, int64_t o) const {
    const int64_t first = o / (l_.outputs / l_.groups) * depth_;
    int64_t sum = bias_[static_cast<size_t>(o)];
    for (int64_t i = 0; i < l_.kernel; ++i) {
      for (int64_t j = 0; j < l_.kernel; ++j) {
        const int64_t h = l_.stride * y - l_.pad + i;
        const int64_t w = l_.stride * x - l_.pad + j;
        if (h < 0 || w < 0 || h >= l_.rows || w >= l_.columns) continue;
        const int64_t pixel =
            ((n * l_.rows + h) * l_.columns + w) * l_.channels;
        const int64_t tap = ((o * l_.kernel + i) * l_.kernel + j) * depth_;
        for (int64_t k = 0; k < depth_; ++k) {
          sum += int64_t{image_[static_cast<size_t>(pixel + first + k)] -
                         l_.input_zero} *
                 filter_[static_cast<size_t>(tap + k)];
        }
      }
    }
    return sum;
  }

  int32_t ResultOf(int64_t sum, int64_t o) const {
    const double scale = double{kInputScale} *
                         double{scales_[static_cast<size_t>(o)]} /
                         double{l_.output_scale};
    const double steps = static_cast<double>(sum) * scale;
    int64_t low = INT16_MIN;
    int64_t high = INT16_MAX;
    if (l_.activation != "NONE") low = l_.output_zero;
    if (l_.activation == "RELUX") {
      high = std::min<int64_t>(
          high, std::llrint(kLimit / l_.output_scale) + l_.output_zero);
    }
    return static_cast<int32_t>(
        std::clamp<int64_t>(std::llrint(steps) + l_.output_zero, low, high));
  }

  const Layer l_;
  const int64_t depth_;
  std::vector<int32_t> image_;
  std::vector<int32_t> filter_;
  std::vector<int32_t> bias_;
  std::vector<float> scales_;
};

// A filter is packed where its channels are fours.
void Check(Layer layer) {
  const Int16Layer plain(layer);
  const Value wanted = plain.Wanted();
  ExpectValue(plain.Case(), wanted);
  if (layer.channels / layer.groups % 4 != 0) return;
  layer.packed = true;
  ExpectValue(Int16Layer(layer).Case(), wanted);
}

TEST(Int16Conv2DTest, ZeroPointsAndPadding) {
  for (int32_t zero : {0, -1234, 32767}) {
    Layer layer;
    layer.input_zero = zero;
    layer.output_zero = -zero / 2;
    Check(layer);
    layer.stride = 2;
    layer.batch = 2;
    Check(layer);
    // Taps whose pixels are joined: more channels are read in place.
    layer.channels = 33;
    Check(layer);
  }
}

// Panels, and what is left of K and of tiles.
TEST(Int16Conv2DTest, Depths) {
  for (int64_t channels : {1, 2, 3, 4, 5, 17, 40}) {
    for (int64_t outputs : {1, 16, 40}) {
      Layer layer;
      layer.channels = channels;
      layer.outputs = outputs;
      layer.kernel = 1;
      layer.pad = 0;
      layer.rows = 3;
      layer.input_zero = 77;
      Check(layer);
    }
  }
}

// Sums of more products than int32 holds.
TEST(Int16Conv2DTest, LargeSums) {
  for (int64_t channels : {56, 57, 513, 1100}) {
    Layer layer;
    layer.rows = layer.columns = 4;
    layer.channels = channels;
    layer.outputs = 5;
    layer.output_scale = 3000.0f;
    layer.extreme = true;
    Check(layer);
    layer.input_zero = 32767;
    Check(layer);
  }
}

TEST(Int16Conv2DTest, ActivationsAreLimits) {
  for (const char *activation : {"RELU", "RELUX"}) {
    Layer layer;
    layer.activation = activation;
    layer.output_zero = -500;
    layer.output_scale = 0.0004f;
    Check(layer);
  }
}

TEST(Int16Conv2DTest, GroupsAndNoBias) {
  Layer layer;
  layer.bias = false;
  Check(layer);
  layer.channels = 32;
  layer.outputs = 24;
  layer.input_zero = -3;
  for (int64_t groups : {2, 8}) {
    layer.groups = groups;
    Check(layer);
  }
}

TEST(Int16Conv2DTest, Errors) {
  OpCase bad = Int16Layer(Layer{}).Case();
  bad.inputs[0].value = Value::Bytes(
      DataType::kInt8, bad.inputs[0].value.shape,
      std::vector<int32_t>(
          static_cast<size_t>(bad.inputs[0].value.shape.Elements())));
  ExpectError(bad, MaceStatus::MACE_INVALID_ARGS,
              "its tensors have 8 bits or 16");
  Layer layer;
  layer.activation = "TANH";
  ExpectError(Int16Layer(layer).Case(), MaceStatus::MACE_UNSUPPORTED,
              "no activation but RELU and RELUX");
}

}  // namespace
}  // namespace mace
