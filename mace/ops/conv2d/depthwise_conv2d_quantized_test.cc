// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Compares quantized depthwise convolutions with the definition of their
// arithmetic, to the bit, on every instruction set.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectValue;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

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

}  // namespace
}  // namespace mace
