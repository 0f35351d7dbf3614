// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/hexagon_op/products.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "mace/kernels/hexagon/packing.h"
#include "mace/ops/hexagon_op/results.h"

namespace mace {
namespace {

using hexagon::kBlockChannels;
using hexagon::kBlockGroups;
using hexagon::kStepBytes;
using hexagon::kVectorBytes;
using hexagon::kVectorWords;

// A filter of int8, of any layout: weights by output, row, column and channel.
class Filter {
 public:
  Filter(const Tensor &filter, bool depthwise, bool taps_first)
      : weights_(filter.As<int8_t>()),
        fours_(filter.layout == ConstantLayout::kPackedO16Fours),
        taps_first_(taps_first),
        packed_groups_(filter.groups) {
    const Shape &shape = filter.shape;
    if (taps_first) {
      height = shape[0];
      width = shape[1];
      outputs = shape[2];
    } else {
      outputs = shape[0];
      height = shape.rank() == 4 ? shape[1] : 1;
      width = shape.rank() == 4 ? shape[2] : 1;
    }
    inputs = depthwise ? 1 : shape.back();
  }

  int8_t At(int64_t output, int64_t tap, int64_t input) const {
    constexpr int64_t kPanel = 16;
    constexpr int64_t kFour = 4;
    const int64_t depth = height * width * inputs;
    const int64_t k = tap * inputs + input;
    if (taps_first_) return weights_[tap * outputs + output];
    if (!fours_) return weights_[output * depth + k];
    const int64_t columns = outputs / packed_groups_;
    const int64_t panels = (columns + kPanel - 1) / kPanel;
    const int64_t n = output % columns;
    const int64_t panel = output / columns * panels + n / kPanel;
    return weights_[panel * depth * kPanel + k / kFour * kPanel * kFour +
                    n % kPanel * kFour + k % kFour];
  }

  int64_t outputs = 1;
  int64_t height = 1;
  int64_t width = 1;
  int64_t inputs = 1;  // of one output, in a tap

 private:
  const int8_t *weights_;
  bool fours_;
  bool taps_first_;
  int64_t packed_groups_;
};

int GroupsOf(int64_t channels) {
  return static_cast<int>((channels + kVectorWords - 1) / kVectorWords);
}

float ScaleAt(const Quantization &q, size_t channel) {
  return q.scales[q.per_tensor() ? 0 : channel];
}

// Of each output: the sum of its weights above 0, and that of those below.
std::vector<int64_t> SumsOfWeights(const Filter &filter) {
  std::vector<int64_t> sums;
  sums.reserve(static_cast<size_t>(2 * filter.outputs));
  for (int64_t n = 0; n < filter.outputs; ++n) {
    int64_t positive = 0;
    int64_t negative = 0;
    for (int64_t tap = 0; tap < filter.height * filter.width; ++tap) {
      for (int64_t c = 0; c < filter.inputs; ++c) {
        const int8_t w = filter.At(n, tap, c);
        (w > 0 ? positive : negative) += w;
      }
    }
    sums.push_back(positive);
    sums.push_back(negative);
  }
  return sums;
}

// Sums begin with the bias, and with what the zero point of the input takes
// off.
HexagonSums SumsOf(const Filter &filter, HexagonPlanContext *context) {
  const HexagonNumbers input = context->InputNumbers(HexagonProduct::kInput);
  const HexagonNumbers output = context->OutputNumbers();
  const Quantization &q =
      *context->input(HexagonProduct::kFilter)->quantization;
  const Tensor *bias = context->input(HexagonProduct::kBias);
  const std::vector<int64_t> &weights =
      context->Once([&filter] { return SumsOfWeights(filter); });
  const int64_t least = INT8_MIN - input.zero;
  const int64_t greatest = INT8_MAX - input.zero;
  HexagonSums sums;
  sums.most = 0;
  for (size_t n = 0; n < static_cast<size_t>(filter.outputs); ++n) {
    const int64_t positive = weights[2 * n];
    const int64_t negative = weights[2 * n + 1];
    const int32_t start = bias == nullptr ? 0 : bias->As<int32_t>()[n];
    const int64_t low = start + positive * least + negative * greatest;
    const int64_t high = start + positive * greatest + negative * least;
    sums.most = std::max({sums.most, -low, high});
    const auto all = static_cast<uint32_t>(positive + negative);
    // Modulo 2^32, as the sums.
    sums.starts.push_back(
        static_cast<int32_t>(static_cast<uint32_t>(start) -
                             static_cast<uint32_t>(input.zero) * all));
    const float product = input.scale * ScaleAt(q, n);
    sums.multipliers.push_back(product / output.scale);
  }
  return sums;
}

hexagon::WindowParameters WindowOf(const WindowGeometry &window) {
  const WindowAxis &y = window.axis[0];
  const WindowAxis &x = window.axis[1];
  const auto narrow = [](int64_t value) { return static_cast<int32_t>(value); };
  return {narrow(y.kernel),     narrow(x.kernel),    narrow(y.stride),
          narrow(x.stride),     narrow(y.dilation),  narrow(x.dilation),
          narrow(y.pad_before), narrow(x.pad_before)};
}

uint32_t AddDepthwiseWeights(const Filter &filter,
                             HexagonPlanContext *context) {
  const int groups = GroupsOf(filter.outputs);
  const int height = static_cast<int>(filter.height);
  const int width = static_cast<int>(filter.width);
  return context->Constant(
      "depthwise filter", hexagon::DepthwiseBytes(groups, height, width),
      [=](uint8_t *memory) {
        const int64_t taps = filter.height * filter.width;
        std::vector<int8_t> plain(static_cast<size_t>(taps * filter.outputs));
        for (int64_t tap = 0; tap < taps; ++tap) {
          for (int64_t n = 0; n < filter.outputs; ++n) {
            plain[static_cast<size_t>(tap * filter.outputs + n)] =
                filter.At(n, tap, 0);
          }
        }
        hexagon::PackDepthwise(plain.data(), static_cast<int>(filter.outputs),
                               groups, height, width,
                               reinterpret_cast<int8_t *>(memory));
      });
}

// `groups_of_channels`: each output has weights for the channels of one group,
// and 0 for the others. `spread`: from one column of the filter to the next;
// those between are 0.
uint32_t AddWeights(const Filter &filter,
                    int64_t groups_of_channels,
                    int64_t spread,
                    HexagonPlanContext *context) {
  const int64_t pixel = context->PixelBytes(HexagonProduct::kInput);
  const int64_t run = WindowExtent(filter.width, spread) * pixel;
  const hexagon::Window window = {
      static_cast<int>(filter.height), 0,
      static_cast<int>((run + kStepBytes - 1) / kStepBytes)};
  const int groups = GroupsOf(filter.outputs);
  return context->Constant(
      MakeString("filter of pixels of ", pixel, " bytes"),
      hexagon::WeightVectors(window, groups) * kVectorBytes,
      [=](uint8_t *memory) {
        std::vector<int8_t> block;
        for (int group = 0; group < groups; group += kBlockGroups) {
          const int64_t first = int64_t{group} * kVectorWords;
          const int64_t channels =
              std::min<int64_t>(kBlockChannels, filter.outputs - first);
          block.assign(static_cast<size_t>(channels * filter.height * run), 0);
          for (int64_t n = 0; n < channels; ++n) {
            for (int64_t tap = 0; tap < filter.height * filter.width; ++tap) {
              int8_t *to = block.data() +
                           (n * filter.height + tap / filter.width) * run +
                           tap % filter.width * spread * pixel;
              const int64_t of_group = filter.outputs / groups_of_channels;
              to += (first + n) / of_group * filter.inputs;
              for (int64_t c = 0; c < filter.inputs; ++c) {
                to[c] = filter.At(first + n, tap, c);
              }
            }
          }
          const int in_block = std::min(kBlockGroups, groups - group);
          hexagon::PackWeights(block.data(), static_cast<int>(channels),
                               in_block, static_cast<int>(run), window, memory);
          memory += hexagon::WeightVectors(window, in_block) * kVectorBytes;
        }
      });
}

MaceStatus CheckFilter(const HexagonProduct &product, const Tensor &filter) {
  const Quantization *q = filter.quantization;
  if (q == nullptr || filter.data_type != DataType::kInt8) {
    return Unsupported("its weights are not quantized");
  }
  const bool shifted = std::any_of(q->zero_points.begin(), q->zero_points.end(),
                                   [](int64_t zero) { return zero != 0; });
  if (shifted) return Unsupported("its weights have zero points");
  if (!q->per_tensor() && q->axis != (product.taps_first ? 2 : 0)) {
    return Unsupported("the scales of its weights are not by output channel");
  }
  return MaceStatus();
}

}  // namespace

HexagonPadding PaddingOf(const WindowGeometry &window) {
  const auto after = [](const WindowAxis &axis) {
    const int64_t end =
        axis.Begin(axis.output - 1) + WindowExtent(axis.kernel, axis.dilation);
    return std::max<int64_t>(end - axis.size, 0);
  };
  return {window.axis[0].pad_before, after(window.axis[0]),
          window.axis[1].pad_before, after(window.axis[1])};
}

MaceStatus PlanProduct(const HexagonProduct &product,
                       HexagonPlanContext *context) {
  constexpr int64_t kMostRun = 1 << 20;  // bytes of a row of a window
  const Tensor &tensor = *context->input(HexagonProduct::kFilter);
  MACE_RETURN_IF_ERROR(CheckFilter(product, tensor));
  const Filter filter(tensor, product.depthwise, product.taps_first);
  hexagon::WindowParameters window = WindowOf(product.window);
  const int64_t extent = WindowExtent(window.width, window.dilation_x);
  if (extent * context->PixelBytes(HexagonProduct::kInput) > kMostRun) {
    return Unsupported("a row of its windows has ", extent, " pixels of ",
                       context->PixelBytes(HexagonProduct::kInput), " bytes");
  }
  MACE_ASSIGN_OR_RETURN(
      const hexagon::ResultParameters results,
      AddResults(SumsOf(filter, context), product.activation, context));
  const uint32_t input = context->Input(HexagonProduct::kInput);
  const uint32_t output = context->Output(0);
  if (product.depthwise) {
    context->Add(hexagon::ConvolveDepthwiseParameters{
        input, output, window, AddDepthwiseWeights(filter, context), results});
    return MaceStatus();
  }
  const int64_t spread = window.dilation_x;
  window.width = static_cast<int32_t>(extent);
  window.dilation_x = 1;
  context->Add(hexagon::ConvolveParameters{
      input, output, window,
      AddWeights(filter, product.groups, spread, context), results});
  return MaceStatus();
}

}  // namespace mace
