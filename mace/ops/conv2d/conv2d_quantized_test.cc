// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

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
using op_test::LeastByte;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

// Compares quantized convolutions with the definition of their arithmetic, to
// the bit. Geometries are tested with the kernel
// (mace/kernels/cpu/conv/quantized_direct_test.cc).

// A 3x3 convolution, by default of stride 2 with one row and column of padding
// at the start.
struct Layer {
  DataType from = DataType::kUint8;
  DataType to = DataType::kUint8;
  int64_t channels = 6;
  int64_t outputs = 20;
  int64_t groups = 1;
  bool bias = true;
  bool packed = false;
  std::string activation = "NONE";
  int64_t batch = 1;
  int64_t rows = 7;
  int64_t columns = 6;
  int64_t stride = 2;
  std::vector<int64_t> pads = {1, 1, 0, 0};  // top, left, bottom, right
  int winograd = 0;
  // Only the least and the largest numbers, and sums of one sign.
  bool extremes = false;

  int64_t OutRows() const {
    return (rows + pads[0] + pads[2] - 3) / stride + 1;
  }
  int64_t OutColumns() const {
    return (columns + pads[1] + pads[3] - 3) / stride + 1;
  }
};

constexpr float kInputScale = 0.02f;
constexpr float kOutputScale = 0.11f;
constexpr float kLimit = 6.0f;

int64_t ZeroOf(DataType type, int64_t offset) {
  return type == DataType::kUint8 ? 128 + offset : offset;
}

class QuantizedLayer {
 public:
  explicit QuantizedLayer(const Layer &layer) : layer_(layer) {
    Random random(17, Random::Quiet());
    const int64_t depth = layer.channels / layer.groups;
    const int32_t low = LeastByte(layer.from);
    image_ = random.Ints(InputShape(), low, low + 255).ints();
    filter_ = random.Ints({layer.outputs, 3, 3, depth}, -127, 127).ints();
    for (int64_t o = 0; o < layer.outputs; ++o) {
      bias_.push_back(static_cast<int32_t>(random.Int(-3000, 3000)));
      scales_.push_back(random.Float(0.0005f, 0.003f));
    }
    if (layer.extremes) MakeExtremes();
  }

  OpCase Case() const {
    const int64_t depth = layer_.channels / layer_.groups;
    OpCase op("Conv2D");
    op.Input(Value::Bytes(layer_.from, InputShape(), image_))
        .Quantized({{kInputScale}, {ZeroOf(layer_.from, -7)}, 0});
    const Value filter =
        Value::Bytes(DataType::kInt8, {layer_.outputs, 3, 3, depth}, filter_);
    if (layer_.packed) {
      op.PackedFours(filter, layer_.groups);
    } else {
      op.Constant(filter);
    }
    op.Quantized({scales_, {}, 0});
    if (layer_.bias) {
      std::vector<float> of_sums;
      for (float scale : scales_) of_sums.push_back(kInputScale * scale);
      op.Constant(Value::Ints({layer_.outputs}, bias_))
          .Quantized({of_sums, {}, 0});
    }
    op.Ints("strides", {layer_.stride, layer_.stride})
        .String("padding", "EXPLICIT")
        .Ints("pads", layer_.pads)
        .Winograd(layer_.winograd)
        .Int("groups", layer_.groups)
        .String("activation", layer_.activation)
        .Float("activation_limit", kLimit)
        .QuantizedOutput(layer_.to, kOutputScale, ZeroOf(layer_.to, 11));
    op.OnCpuOnly();
    return op;
  }

  Value Wanted() const {
    std::vector<int32_t> wanted;
    for (int64_t n = 0; n < layer_.batch; ++n) {
      for (int64_t y = 0; y < layer_.OutRows(); ++y) {
        for (int64_t x = 0; x < layer_.OutColumns(); ++x) {
          for (int64_t o = 0; o < layer_.outputs; ++o) {
            wanted.push_back(At(n, y, x, o));
          }
        }
      }
    }
    return Value::Bytes(
        layer_.to,
        {layer_.batch, layer_.OutRows(), layer_.OutColumns(), layer_.outputs},
        wanted);
  }

 private:
  Shape InputShape() const {
    return {layer_.batch, layer_.rows, layer_.columns, layer_.channels};
  }

  // Results are small nevertheless.
  void MakeExtremes() {
    const int32_t least = LeastByte(layer_.from);
    const size_t half = image_.size() / 2;
    for (size_t i = 0; i < image_.size(); ++i) {
      const bool large = i < half || image_[i] > least + 127;
      image_[i] = large ? least + 255 : least;
    }
    const size_t of_output =
        filter_.size() / static_cast<size_t>(layer_.outputs);
    for (size_t i = 0; i < filter_.size(); ++i) {
      const size_t kind = i / of_output % 4;
      const bool large = kind == 0 || (kind == 2 && i % 2 == 0) ||
                         (kind == 3 && filter_[i] > 0);
      filter_[i] = large ? 127 : -128;
    }
    for (float &scale : scales_) scale *= 0.01f;
  }

  int32_t At(int64_t n, int64_t y, int64_t x, int64_t o) const {
    const int64_t depth = layer_.channels / layer_.groups;
    const int64_t first = o / (layer_.outputs / layer_.groups) * depth;
    int32_t sum = layer_.bias ? bias_[static_cast<size_t>(o)] : 0;
    for (int64_t i = 0; i < 3; ++i) {
      for (int64_t j = 0; j < 3; ++j) {
        const int64_t h = layer_.stride * y - layer_.pads[0] + i;
        const int64_t w = layer_.stride * x - layer_.pads[1] + j;
        if (h < 0 || w < 0 || h >= layer_.rows || w >= layer_.columns) continue;
        for (int64_t k = 0; k < depth; ++k) {
          const int64_t pixel =
              ((n * layer_.rows + h) * layer_.columns + w) * layer_.channels;
          sum +=
              (image_[static_cast<size_t>(pixel + first + k)] -
               static_cast<int32_t>(ZeroOf(layer_.from, -7))) *
              filter_[static_cast<size_t>(((o * 3 + i) * 3 + j) * depth + k)];
        }
      }
    }
    const float scale =
        kInputScale * scales_[static_cast<size_t>(o)] / kOutputScale;
    const float steps = static_cast<float>(sum) * scale;
    const auto zero = static_cast<int32_t>(ZeroOf(layer_.to, 11));
    int32_t low = LeastByte(layer_.to);
    int32_t high = low + 255;
    if (layer_.activation != "NONE") low = zero;
    if (layer_.activation == "RELUX") {
      high = std::min(high, zero + static_cast<int32_t>(
                                       std::nearbyint(kLimit / kOutputScale)));
    }
    return static_cast<int32_t>(
        std::clamp<int64_t>(std::llrint(steps) + zero, low, high));
  }

  const Layer layer_;
  std::vector<int32_t> image_;
  std::vector<int32_t> filter_;
  std::vector<int32_t> bias_;
  std::vector<float> scales_;
};

// A filter is packed where its channels are fours.
void Check(Layer layer) {
  const QuantizedLayer plain(layer);
  const Value wanted = plain.Wanted();
  ExpectValue(plain.Case(), wanted);
  if (layer.channels / layer.groups % 4 != 0) return;
  layer.packed = true;
  ExpectValue(QuantizedLayer(layer).Case(), wanted);
}

TEST(QuantizedConv2DTest, EitherSignedness) {
  for (DataType from : {DataType::kUint8, DataType::kInt8}) {
    for (DataType to : {DataType::kUint8, DataType::kInt8}) {
      Layer layer;
      layer.from = from;
      layer.to = to;
      Check(layer);
    }
  }
}

TEST(QuantizedConv2DTest, ActivationsAreLimits) {
  Layer layer;
  layer.activation = "RELU";
  Check(layer);
  layer.activation = "RELUX";
  layer.to = DataType::kInt8;
  Check(layer);
}

TEST(QuantizedConv2DTest, GroupsAndNoBias) {
  Layer layer;
  layer.bias = false;
  Check(layer);
  layer.channels = 32;
  layer.outputs = 24;
  layer.groups = 2;
  Check(layer);
  layer.groups = 8;
  Check(layer);
}

TEST(QuantizedConv2DTest, FiltersInFours) {
  Layer layer;
  layer.channels = 4;  // A tap is a row of the filter.
  Check(layer);
  layer.channels = 20;
  layer.outputs = 33;
  Check(layer);
}

// One channel in each group: depthwise, with several outputs for each.
TEST(QuantizedConv2DTest, GroupsOfOneChannel) {
  for (int64_t channels : {2, 5, 32, 70}) {
    for (int64_t times : {1, 2, 3, 4, 7}) {
      Layer layer;
      layer.channels = layer.groups = channels;
      layer.outputs = channels * times;
      Check(layer);
      layer.from = DataType::kInt8;
      layer.activation = "RELU";
      Check(layer);
    }
  }
  // Large enough for several threads.
  Layer large;
  large.channels = large.groups = 300;
  large.outputs = 600;
  large.rows = large.columns = 24;
  Check(large);
}

// A layer that processors without dot products compute by Winograd's method.
Layer WinogradLayer() {
  Layer layer;
  layer.channels = 24;
  layer.outputs = 40;
  layer.rows = 13;
  layer.columns = 11;
  layer.stride = 1;
  layer.pads = {1, 1, 1, 1};
  layer.winograd = 4;
  return layer;
}

// Instruction sets with that method.
const std::vector<CpuIsa> kWinogradIsas = {
#if defined(__aarch64__) || defined(__arm__)
    CpuIsa::neon,
#elif !defined(MACE_ONLY_AVX2) && !defined(MACE_ONLY_SSE41)
    CpuIsa::sse41,
    CpuIsa::avx2,
#endif
};

// Whether that method is used where it exists.
void ExpectWinograd(const Layer &layer, bool wanted) {
  for (const CpuIsa isa : kWinogradIsas) {
    if (!CpuSupports(isa)) continue;
    op_test::RunOptions options;
    options.isa = isa;
    const std::string name =
        op_test::RunOp(QuantizedLayer(layer).Case(), options).kernel_name;
    EXPECT_EQ(name == "winograd4x4, quantized", wanted)
        << CpuIsaName(isa) << ": " << name;
  }
}

TEST(QuantizedConv2DTest, Winograd) {
  Layer layer = WinogradLayer();
  Check(layer);
  ExpectWinograd(layer, true);
  layer.from = layer.to = DataType::kInt8;
  layer.batch = 2;
  layer.bias = false;
  layer.activation = "RELUX";
  Check(layer);
  layer.batch = 1;
  layer.pads = {2, 0, 0, 3};
  layer.rows = 4;
  layer.columns = 33;
  Check(layer);
  // Several blocks of tiles, and whole tiles without padding.
  layer.pads = {0, 0, 0, 0};
  layer.rows = layer.columns = 30;
  layer.channels = 8;
  layer.outputs = 16;
  Check(layer);
  ExpectWinograd(layer, true);
}

TEST(QuantizedConv2DTest, NoWinograd) {
  Layer layer = WinogradLayer();
  layer.winograd = 2;
  ExpectWinograd(layer, false);
  layer = WinogradLayer();
  layer.stride = 2;
  ExpectWinograd(layer, false);
  layer = WinogradLayer();
  layer.channels = 20;
  ExpectWinograd(layer, false);
  layer = WinogradLayer();
  layer.rows = layer.columns = 1;
  ExpectWinograd(layer, false);
}

// The largest sums that Winograd's method computes exactly, and larger ones:
// with 134 from the zero point, 216 channels stay below 2^25.
TEST(QuantizedConv2DTest, SumsAtTheLimitOfWinograd) {
  for (DataType type : {DataType::kUint8, DataType::kInt8}) {
    for (int64_t channels : {216, 224}) {
      Layer layer = WinogradLayer();
      layer.from = layer.to = type;
      layer.channels = channels;
      layer.outputs = 20;
      layer.rows = layer.columns = 15;
      layer.extremes = true;
      Check(layer);
      ExpectWinograd(layer, channels == 216);
    }
  }
}

TEST(QuantizedConv2DTest, Errors) {
  Layer layer;
  layer.channels = 8;
  layer.packed = true;
  OpCase packed = QuantizedLayer(layer).Case();
  packed.inputs[1].groups = 2;
  ExpectError(packed, MaceStatus::MACE_INVALID_ARGS,
              "1 group(s) do not fit a filter of shape [20, 3, 3, 8] packed "
              "for 2 group(s)");
  layer = Layer();
  const OpCase good = QuantizedLayer(layer).Case();
  OpCase bad = good;
  bad.inputs[1].quantization.axis = 1;
  ExpectError(bad, MaceStatus::MACE_INVALID_ARGS, "axis 0");
  bad = good;
  bad.inputs[1].quantization.zero_points.assign(20, 1);
  ExpectError(bad, MaceStatus::MACE_INVALID_ARGS,
              "the zero points of the filter must be 0");
  bad = good;
  bad.inputs[2].quantization.scales[3] *= 2;
  ExpectError(bad, MaceStatus::MACE_INVALID_ARGS,
              "the bias of channel 3 has the scale");
  layer.activation = "TANH";
  ExpectError(QuantizedLayer(layer).Case(), MaceStatus::MACE_UNSUPPORTED,
              "no activation but RELU and RELUX");
}

// Compares convolutions of int16 with the definition of their arithmetic, to
// the bit, on every instruction set.

constexpr float kInt16InputScale = 0.0004f;
constexpr float kInt16Limit = 6.0f;

struct Int16Layer {
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

class Int16Conv {
 public:
  explicit Int16Conv(const Int16Layer &layer)
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
        .Quantized({{kInt16InputScale}, {l_.input_zero}, 0});
    const Value filter = Value::Bytes(DataType::kInt8, FilterShape(), filter_);
    if (l_.packed) {
      op.PackedFours(filter, l_.groups);
    } else {
      op.Constant(filter);
    }
    op.Quantized({scales_, {}, 0});
    if (l_.bias) {
      std::vector<float> of_sums;
      for (float scale : scales_) of_sums.push_back(kInt16InputScale * scale);
      op.Constant(Value::Ints({l_.outputs}, bias_)).Quantized({of_sums, {}, 0});
    }
    op.Ints("strides", {l_.stride, l_.stride})
        .String("padding", "EXPLICIT")
        .Ints("pads", {l_.pad, l_.pad, l_.pad, l_.pad})
        .Int("groups", l_.groups)
        .String("activation", l_.activation)
        .Float("activation_limit", kInt16Limit)
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
    const double scale = double{kInt16InputScale} *
                         double{scales_[static_cast<size_t>(o)]} /
                         double{l_.output_scale};
    const double steps = static_cast<double>(sum) * scale;
    int64_t low = INT16_MIN;
    int64_t high = INT16_MAX;
    if (l_.activation != "NONE") low = l_.output_zero;
    if (l_.activation == "RELUX") {
      high = std::min<int64_t>(
          high, std::llrint(kInt16Limit / l_.output_scale) + l_.output_zero);
    }
    return static_cast<int32_t>(
        std::clamp<int64_t>(std::llrint(steps) + l_.output_zero, low, high));
  }

  const Int16Layer l_;
  const int64_t depth_;
  std::vector<int32_t> image_;
  std::vector<int32_t> filter_;
  std::vector<int32_t> bias_;
  std::vector<float> scales_;
};

// A filter is packed where its channels are fours.
void CheckInt16(Int16Layer layer) {
  const Int16Conv plain(layer);
  const Value wanted = plain.Wanted();
  ExpectValue(plain.Case(), wanted);
  if (layer.channels / layer.groups % 4 != 0) return;
  layer.packed = true;
  ExpectValue(Int16Conv(layer).Case(), wanted);
}

TEST(Int16Conv2DTest, ZeroPointsAndPadding) {
  for (int32_t zero : {0, -1234, 32767}) {
    Int16Layer layer;
    layer.input_zero = zero;
    layer.output_zero = -zero / 2;
    CheckInt16(layer);
    layer.stride = 2;
    layer.batch = 2;
    CheckInt16(layer);
    // Taps whose pixels are joined: more channels are read in place.
    layer.channels = 33;
    CheckInt16(layer);
  }
}

// Panels, and what is left of K and of tiles.
TEST(Int16Conv2DTest, Depths) {
  for (int64_t channels : {1, 2, 3, 4, 5, 17, 40}) {
    for (int64_t outputs : {1, 16, 40}) {
      Int16Layer layer;
      layer.channels = channels;
      layer.outputs = outputs;
      layer.kernel = 1;
      layer.pad = 0;
      layer.rows = 3;
      layer.input_zero = 77;
      CheckInt16(layer);
    }
  }
}

// Sums of more products than int32 holds.
TEST(Int16Conv2DTest, LargeSums) {
  for (int64_t channels : {56, 57, 513, 1100}) {
    Int16Layer layer;
    layer.rows = layer.columns = 4;
    layer.channels = channels;
    layer.outputs = 5;
    layer.output_scale = 3000.0f;
    layer.extreme = true;
    CheckInt16(layer);
    layer.input_zero = 32767;
    CheckInt16(layer);
  }
}

TEST(Int16Conv2DTest, ActivationsAreLimits) {
  for (const char *activation : {"RELU", "RELUX"}) {
    Int16Layer layer;
    layer.activation = activation;
    layer.output_zero = -500;
    layer.output_scale = 0.0004f;
    CheckInt16(layer);
  }
}

TEST(Int16Conv2DTest, GroupsAndNoBias) {
  Int16Layer layer;
  layer.bias = false;
  CheckInt16(layer);
  layer.channels = 32;
  layer.outputs = 24;
  layer.input_zero = -3;
  for (int64_t groups : {2, 8}) {
    layer.groups = groups;
    CheckInt16(layer);
  }
}

TEST(Int16Conv2DTest, Errors) {
  OpCase bad = Int16Conv(Int16Layer{}).Case();
  bad.inputs[0].value = Value::Bytes(
      DataType::kInt8, bad.inputs[0].value.shape,
      std::vector<int32_t>(
          static_cast<size_t>(bad.inputs[0].value.shape.Elements())));
  ExpectError(bad, MaceStatus::MACE_INVALID_ARGS,
              "its tensors have 8 bits or 16");
  Int16Layer layer;
  layer.activation = "TANH";
  ExpectError(Int16Conv(layer).Case(), MaceStatus::MACE_UNSUPPORTED,
              "no activation but RELU and RELUX");
}

}  // namespace
}  // namespace mace
