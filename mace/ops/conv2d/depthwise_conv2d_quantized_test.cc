// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectValue;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

// Compares quantized depthwise convolutions with the definition of their
// arithmetic, to the bit, on every instruction set.

constexpr float kInputScale = 0.03f;
constexpr float kOutputScale = 0.06f;
constexpr int32_t kInputZero = 120;
constexpr int32_t kOutputZero = 140;

struct Layer {
  int64_t batch = 1;
  int64_t rows = 7;
  int64_t columns = 9;
  int64_t channels = 5;
  int64_t kernel = 3;
  int64_t stride = 1;
  int64_t dilation = 1;
  bool padded = true;
  // With padding, of columns and rows before the image more than after it.
  int64_t shifted = 0;
  float limit = 0.0f;  // of RELUX; 0: no activation
};

class QuantizedLayer {
 public:
  explicit QuantizedLayer(const Layer &layer) : l_(layer) {
    Random random(9, Random::Quiet());
    image_ = random.Ints({l_.batch, l_.rows, l_.columns, l_.channels}, 0, 255)
                 .ints();
    filter_ =
        random.Ints({l_.kernel, l_.kernel, l_.channels, 1}, -128, 127).ints();
    for (int64_t c = 0; c < l_.channels; ++c) {
      bias_.push_back(static_cast<int32_t>(random.Int(-3000, 3000)));
      scales_.push_back(random.Float(0.001f, 0.004f));
    }
    reach_ = (l_.kernel - 1) * l_.dilation;
    pad_ = l_.padded ? reach_ / 2 : 0;
    before_ = pad_ + (l_.padded ? l_.shifted : 0);
    out_rows_ = (l_.rows + 2 * pad_ - reach_ - 1) / l_.stride + 1;
    out_columns_ = (l_.columns + 2 * pad_ - reach_ - 1) / l_.stride + 1;
  }

  OpCase Case() const {
    std::vector<float> of_sums;
    for (float scale : scales_) of_sums.push_back(kInputScale * scale);
    OpCase op("DepthwiseConv2d");
    op.Input(Value::Bytes(DataType::kUint8,
                          {l_.batch, l_.rows, l_.columns, l_.channels}, image_))
        .Quantized({{kInputScale}, {kInputZero}, 0})
        .Constant(Value::Bytes(DataType::kInt8,
                               {l_.kernel, l_.kernel, l_.channels, 1}, filter_))
        .Quantized({scales_, {}, l_.channels > 1 ? 2 : 0})
        .Constant(Value::Ints({l_.channels}, bias_))
        .Quantized({of_sums, {}, 0})
        .Ints("strides", {l_.stride, l_.stride})
        .Ints("dilations", {l_.dilation, l_.dilation})
        .String("padding", "EXPLICIT")
        .Ints("pads",
              {before_, before_, 2 * pad_ - before_, 2 * pad_ - before_})
        .QuantizedOutput(DataType::kUint8, kOutputScale, kOutputZero)
        .OnCpuOnly();
    if (l_.limit > 0.0f) {
      op.String("activation", "RELUX").Float("activation_limit", l_.limit);
    }
    return op;
  }

  Value Wanted() const {
    std::vector<int32_t> wanted;
    for (int64_t n = 0; n < l_.batch; ++n) {
      for (int64_t y = 0; y < out_rows_; ++y) {
        for (int64_t x = 0; x < out_columns_; ++x) {
          for (int64_t c = 0; c < l_.channels; ++c) {
            wanted.push_back(At(n, y, x, c));
          }
        }
      }
    }
    return Value::Bytes(DataType::kUint8,
                        {l_.batch, out_rows_, out_columns_, l_.channels},
                        wanted);
  }

 private:
  int32_t At(int64_t n, int64_t y, int64_t x, int64_t c) const {
    int32_t sum = bias_[static_cast<size_t>(c)];
    for (int64_t i = 0; i < l_.kernel; ++i) {
      for (int64_t j = 0; j < l_.kernel; ++j) {
        const int64_t h = y * l_.stride - before_ + i * l_.dilation;
        const int64_t w = x * l_.stride - before_ + j * l_.dilation;
        if (h < 0 || w < 0 || h >= l_.rows || w >= l_.columns) continue;
        const int64_t at =
            ((n * l_.rows + h) * l_.columns + w) * l_.channels + c;
        const int64_t tap = (i * l_.kernel + j) * l_.channels + c;
        sum += (image_[static_cast<size_t>(at)] - kInputZero) *
               filter_[static_cast<size_t>(tap)];
      }
    }
    const float scale =
        kInputScale * scales_[static_cast<size_t>(c)] / kOutputScale;
    const int64_t q =
        std::llrint(static_cast<float>(sum) * scale) + kOutputZero;
    if (l_.limit == 0.0f) {
      return static_cast<int32_t>(std::clamp<int64_t>(q, 0, 255));
    }
    const int64_t high = kOutputZero + std::llrint(l_.limit / kOutputScale);
    return static_cast<int32_t>(
        std::clamp<int64_t>(q, kOutputZero, std::min<int64_t>(high, 255)));
  }

  const Layer l_;
  std::vector<int32_t> image_;
  std::vector<int32_t> filter_;
  std::vector<int32_t> bias_;
  std::vector<float> scales_;
  int64_t reach_ = 0;
  int64_t pad_ = 0;
  int64_t before_ = 0;
  int64_t out_rows_ = 0;
  int64_t out_columns_ = 0;
};

void Check(const Layer &layer) {
  const QuantizedLayer quantized(layer);
  ExpectValue(quantized.Case(), quantized.Wanted());
}

// One block of channels that is not complete, complete ones, and a last one
// that overlaps the one before, on each instruction set.
TEST(QuantizedDepthwiseTest, Channels) {
  for (int64_t channels : {1, 5, 16, 24, 32, 61, 64, 65, 150}) {
    Layer layer;
    layer.channels = channels;
    Check(layer);
    layer.stride = 2;
    Check(layer);
  }
}

TEST(QuantizedDepthwiseTest, WindowsAndBatches) {
  for (int64_t kernel : {1, 2, 4, 5, 7}) {
    for (int64_t stride : {1, 2, 3}) {
      Layer layer;
      layer.kernel = kernel;
      layer.stride = stride;
      layer.channels = 20;
      layer.batch = 2;
      Check(layer);
      layer.padded = false;
      Check(layer);
    }
  }
  Layer dilated;
  dilated.dilation = 2;
  Check(dilated);
  dilated.stride = 2;
  Check(dilated);
}

// Windows that slide over columns: every remainder of three outputs, rows in
// pairs and alone, and every kind of padding.
TEST(QuantizedDepthwiseTest, ThreeByThree) {
  for (int64_t stride : {1, 2}) {
    for (int64_t columns = 1; columns <= 14; ++columns) {
      Layer layer;
      layer.stride = stride;
      layer.columns = columns;
      layer.rows = 1 + columns % 5;
      layer.channels = columns % 2 == 0 ? 32 : 40;
      layer.batch = 1 + columns % 2;
      for (int64_t shifted : {-1, 0, 1}) {
        layer.shifted = shifted;
        Check(layer);
      }
      if (layer.rows < 3 || columns < 3) continue;
      layer.padded = false;
      Check(layer);
    }
  }
}

TEST(QuantizedDepthwiseTest, Activation) {
  for (int64_t kernel : {3, 5}) {
    Layer layer;
    layer.channels = 32;
    layer.kernel = kernel;
    layer.limit = 3.0f;
    Check(layer);
  }
}

TEST(QuantizedDepthwiseTest, SeveralOutputsForEachChannel) {
  OpCase op("DepthwiseConv2d");
  op.Input(Value::Bytes(DataType::kUint8, {1, 1, 1, 2}, {1, 2}))
      .Quantized({{1.0f}, {}, 0})
      .Constant(Value::Bytes(DataType::kInt8, {1, 1, 2, 2}, {1, 2, 3, 4}))
      .Quantized({{1.0f}, {}, 0})
      .QuantizedOutput(DataType::kUint8, 1.0f, 0)
      .OnCpuOnly();
  ExpectError(op, MaceStatus::MACE_UNSUPPORTED,
              "one output for each channel, not 2; convert the model again");
}

// Compares depthwise convolutions of int16 with the definition of their
// arithmetic, to the bit, on every instruction set.

constexpr float kInt16InputScale = 0.0004f;

struct Int16Layer {
  int64_t batch = 1;
  int64_t rows = 7;
  int64_t columns = 9;
  int64_t channels = 5;
  int64_t kernel = 3;
  int64_t stride = 1;
  int64_t dilation = 1;
  int32_t input_zero = 300;
  int32_t output_zero = -20;
  float output_scale = 0.0005f;
  // All elements and weights are the least ones of their types.
  bool extreme = false;
};

void CheckInt16(const Int16Layer &l) {
  Random random(9, Random::Quiet());
  const Shape image_shape = {l.batch, l.rows, l.columns, l.channels};
  const Shape filter_shape = {l.kernel, l.kernel, l.channels, 1};
  const std::vector<int32_t> image =
      random.Ints(image_shape, INT16_MIN, l.extreme ? INT16_MIN : INT16_MAX)
          .ints();
  const std::vector<int32_t> filter =
      random.Ints(filter_shape, INT8_MIN, l.extreme ? INT8_MIN : INT8_MAX)
          .ints();
  std::vector<int32_t> bias;
  std::vector<float> scales;
  std::vector<float> of_sums;
  for (int64_t c = 0; c < l.channels; ++c) {
    bias.push_back(static_cast<int32_t>(random.Int(-300000, 300000)));
    scales.push_back(random.Float(0.001f, 0.004f));
    of_sums.push_back(kInt16InputScale * scales.back());
  }
  const int64_t reach = (l.kernel - 1) * l.dilation;
  const int64_t pad = reach / 2;
  const int64_t height = (l.rows + 2 * pad - reach - 1) / l.stride + 1;
  const int64_t width = (l.columns + 2 * pad - reach - 1) / l.stride + 1;
  const auto sum_at = [&](int64_t n, int64_t y, int64_t x, int64_t c) {
    int64_t sum = bias[static_cast<size_t>(c)];
    for (int64_t i = 0; i < l.kernel; ++i) {
      for (int64_t j = 0; j < l.kernel; ++j) {
        const int64_t h = y * l.stride - pad + i * l.dilation;
        const int64_t w = x * l.stride - pad + j * l.dilation;
        if (h < 0 || w < 0 || h >= l.rows || w >= l.columns) continue;
        const int64_t at = ((n * l.rows + h) * l.columns + w) * l.channels + c;
        const int64_t tap = (i * l.kernel + j) * l.channels + c;
        sum += int64_t{image[static_cast<size_t>(at)] - l.input_zero} *
               filter[static_cast<size_t>(tap)];
      }
    }
    return sum;
  };
  std::vector<int32_t> wanted;
  for (int64_t n = 0; n < l.batch; ++n) {
    for (int64_t y = 0; y < height; ++y) {
      for (int64_t x = 0; x < width; ++x) {
        for (int64_t c = 0; c < l.channels; ++c) {
          const double scale = double{kInt16InputScale} *
                               double{scales[static_cast<size_t>(c)]} /
                               double{l.output_scale};
          const int64_t steps =
              std::llrint(static_cast<double>(sum_at(n, y, x, c)) * scale);
          wanted.push_back(static_cast<int32_t>(std::clamp<int64_t>(
              steps + l.output_zero, INT16_MIN, INT16_MAX)));
        }
      }
    }
  }
  OpCase op("DepthwiseConv2d");
  op.Input(Value::Shorts(image_shape, image))
      .Quantized({{kInt16InputScale}, {l.input_zero}, 0})
      .Constant(Value::Bytes(DataType::kInt8, filter_shape, filter))
      .Quantized({scales, {}, l.channels > 1 ? 2 : 0})
      .Constant(Value::Ints({l.channels}, bias))
      .Quantized({of_sums, {}, 0})
      .Ints("strides", {l.stride, l.stride})
      .Ints("dilations", {l.dilation, l.dilation})
      .String("padding", "EXPLICIT")
      .Ints("pads", {pad, pad, pad, pad})
      .QuantizedOutput(DataType::kInt16, l.output_scale, l.output_zero)
      .OnCpuOnly();
  ExpectValue(op, Value::Shorts({l.batch, height, width, l.channels}, wanted));
}

// Of each instruction set: several vectors, one, and a part of one.
TEST(Int16DepthwiseTest, Channels) {
  for (int64_t channels : {1, 5, 16, 24, 32, 61, 65}) {
    Int16Layer layer;
    layer.channels = channels;
    CheckInt16(layer);
    layer.stride = 2;
    CheckInt16(layer);
  }
}

TEST(Int16DepthwiseTest, WindowsAndBatches) {
  for (int64_t kernel : {1, 2, 5, 7}) {
    for (int64_t stride : {1, 2, 3}) {
      Int16Layer layer;
      layer.kernel = kernel;
      layer.stride = stride;
      layer.channels = 20;
      layer.batch = 2;
      CheckInt16(layer);
    }
  }
  Int16Layer dilated;
  dilated.dilation = 2;
  CheckInt16(dilated);
}

// Sums of more products than int32 holds.
TEST(Int16DepthwiseTest, LargeSums) {
  Int16Layer layer;
  layer.rows = layer.columns = 26;
  layer.kernel = 25;
  layer.channels = 3;
  layer.output_scale = 300.0f;
  layer.extreme = true;
  CheckInt16(layer);
}

TEST(Int16DepthwiseTest, SeveralOutputsForEachChannel) {
  OpCase op("DepthwiseConv2d");
  op.Input(Value::Shorts({1, 1, 1, 2}, {1, 2}))
      .Quantized({{1.0f}, {}, 0})
      .Constant(Value::Bytes(DataType::kInt8, {1, 1, 2, 2}, {1, 2, 3, 4}))
      .Quantized({{1.0f}, {}, 0})
      .QuantizedOutput(DataType::kInt16, 1.0f, 0)
      .OnCpuOnly();
  ExpectError(op, MaceStatus::MACE_UNSUPPORTED, "not 2");
}

}  // namespace
}  // namespace mace
