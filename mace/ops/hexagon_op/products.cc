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
#include "mace/ops/quantized_product/quantized_product.h"
#include "mace/ops/window/padding_after.h"

namespace mace {
namespace {

using hexagon::kBlockChannels;
using hexagon::kBlockGroups;
using hexagon::kStepBytes;
using hexagon::kVectorBytes;
using hexagon::kVectorWords;

// The weights by output, row, column and channel.
struct Filter {
  Filter(const Tensor &filter, const HexagonProduct &product)
      : weights(filter, product.order), outputs(weights.outputs()) {
    const Shape &shape = filter.shape;
    if (product.order == FilterOrder::kTapsFirst) {
      height = shape[0];
      width = shape[1];
    } else if (shape.rank() == 4) {
      height = shape[1];
      width = shape[2];
    }
    inputs = product.depthwise ? 1 : shape.back();
  }

  int8_t At(int64_t output, int64_t tap, int64_t input) const {
    return weights.At(output, tap * inputs + input);
  }

  ProductFilter weights;
  int64_t outputs;
  int64_t height = 1;
  int64_t width = 1;
  int64_t inputs = 1;  // of one output, in a tap
};

int GroupsOf(int64_t channels) {
  return static_cast<int>((channels + kVectorWords - 1) / kVectorWords);
}

HexagonSums SumsOf(const HexagonProduct::Ports &ports,
                   const ProductFilter &filter,
                   HexagonPlanContext *context) {
  const HexagonNumbers input = context->InputNumbers(ports.input);
  ProductNumbers numbers;
  numbers.input = input.Range();
  numbers.input_scale = input.scale;
  numbers.filter = context->input(ports.filter)->quantization;
  numbers.bias = context->input(ports.bias);
  numbers.output_scale = context->OutputNumbers().scale;
  const WeightSums &weights =
      context->Once([&filter] { return SumWeights(filter); });
  const SumRange range = RangeOfSums(numbers, weights);
  HexagonSums sums;
  sums.most = std::max(-range.low, range.high);
  for (size_t n = 0; n < static_cast<size_t>(filter.outputs()); ++n) {
    sums.starts.push_back(StartOf(numbers, weights, n));
    sums.multipliers.push_back(MultiplierOf(numbers, n));
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

// `pixel`: bytes from one pixel of the input to the next. `spread`: from one
// column of the filter to the next; those between are 0. With groups of
// channels, each output has weights for the channels of one group, and 0 for
// the others.
uint32_t AddWeights(const Filter &filter,
                    int64_t groups_of_channels,
                    int64_t pixel,
                    int64_t spread,
                    HexagonPlanContext *context) {
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
  switch (
      ProblemOfFilter(filter.data_type, filter.quantization, product.order)) {
    case FilterProblem::kNotQuantized:
      return Unsupported("its weights are not quantized");
    case FilterProblem::kZeroPoints:
      return Unsupported("its weights have zero points");
    case FilterProblem::kScaleAxis:
      return Unsupported("the scales of its weights are not by output channel");
    default:
      return MaceStatus();
  }
}

}  // namespace

HexagonPadding PaddingOf(const WindowGeometry &window) {
  return {window.axis[0].pad_before, PaddingAfter(window.axis[0]),
          window.axis[1].pad_before, PaddingAfter(window.axis[1])};
}

MaceStatus PlanProduct(const HexagonProduct &product,
                       HexagonPlanContext *context) {
  constexpr int64_t kMostRun = 1 << 20;  // bytes of a row of a window
  const Tensor &tensor = *context->input(product.ports.filter);
  MACE_RETURN_IF_ERROR(CheckFilter(product, tensor));
  const Filter filter(tensor, product);
  hexagon::WindowParameters window = WindowOf(product.window);
  const int64_t extent = WindowExtent(window.width, window.dilation_x);
  const int32_t pixel = context->PixelBytes(product.ports.input);
  if (extent * pixel > kMostRun) {
    return Unsupported("a row of its windows has ", extent, " pixels of ",
                       pixel, " bytes");
  }
  MACE_ASSIGN_OR_RETURN(
      const hexagon::ResultParameters results,
      AddResults(SumsOf(product.ports, filter.weights, context),
                 product.activation, context));
  const uint32_t input = context->Input(product.ports.input);
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
      AddWeights(filter, product.groups, pixel, spread, context), results});
  return MaceStatus();
}

}  // namespace mace
