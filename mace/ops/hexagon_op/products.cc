// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/hexagon_op/products.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/kernels/cpu/activation/activation.h"
#include "mace/kernels/hexagon/packing.h"
#include "mace/ops/hexagon_op/hexagon_op.h"
#include "mace/ops/quantized_product/limits.h"
#include "mace/ops/quantized_product/quantized_product.h"
#include "mace/ops/window/window.h"

namespace mace {
namespace {

using hexagon::kBlockChannels;
using hexagon::kBlockGroups;
using hexagon::kNone;
using hexagon::kStepBytes;
using hexagon::kVectorBytes;
using hexagon::kVectorWords;

// How the DSP makes bytes of sums (docs/reference/quantization.md):
//
//   y[n] = clamp(round(float32(a[n]) * m[n]) + z)
struct HexagonSums {
  std::vector<int32_t> starts;     // of the sums, one for each channel
  std::vector<float> multipliers;  // likewise
  // No |a| is larger.
  int64_t most = INT64_MAX;
};

constexpr int64_t kMostFloat = int64_t{1} << 24;  // float32 has all integers

// One number for each channel, rounded up to whole vectors.
using Words = std::vector<int32_t>;

uint32_t AddWords(const char *name, Words words, HexagonPlanContext *context) {
  const auto bytes = words.size() * sizeof(int32_t);
  return context->Constant(name, static_cast<int64_t>(bytes),
                           [moved = std::move(words), bytes](uint8_t *memory) {
                             std::memcpy(memory, moved.data(), bytes);
                           });
}

// How far sums may be shifted to the left.
int ShiftFor(int64_t most) {
  constexpr int kMost = 29;
  int left = 0;
  while (left < kMost && (most >> (29 - left)) == 0) ++left;
  return left;
}

// The parameters for output 0; `context` gets constants. UNSUPPORTED for a
// multiplier that is not a normal number, or another activation.
Result<hexagon::ResultParameters> AddResults(
    const HexagonSums &sums,
    const activation::Params &activation,
    HexagonPlanContext *context) {
  if (!IsLimit(activation.kind)) {
    return Unsupported("it takes no activation but RELU and RELUX");
  }
  const size_t channels = sums.starts.size();
  const size_t count =
      (channels + kVectorWords - 1) / kVectorWords * kVectorWords;
  // What fills the last vector up gives 0.
  Words starts(count), mantissas(count, 1 << 30), shifts(count, 30),
      factors(count);
  const int left = ShiftFor(sums.most);
  bool fast = true;
  for (size_t n = 0; n < channels; ++n) {
    const float multiplier = sums.multipliers[n];
    starts[n] = sums.starts[n];
    if (!hexagon::SplitMultiplier(multiplier, &mantissas[n], &shifts[n])) {
      return Unsupported("the scales of channel ", n, " make a factor of ",
                         multiplier, ", which is no normal number above 0");
    }
    fast = fast && sums.most <= UINT32_MAX &&
           hexagon::FastFactor(multiplier, static_cast<uint32_t>(sums.most),
                               left, &factors[n]);
  }
  const HexagonNumbers output = context->OutputNumbers();
  const QuantizedLimits limits =
      LimitsOf(output.Range(), activation, output.scale);
  hexagon::ResultParameters results = {};
  results.bias = AddWords("bias", std::move(starts), context);
  results.mantissa = AddWords("mantissa", std::move(mantissas), context);
  results.shift = AddWords("shift", std::move(shifts), context);
  results.factor =
      fast ? AddWords("factor", std::move(factors), context) : kNone;
  results.left = left;
  results.is_float = sums.most <= kMostFloat ? 1 : 0;
  results.low = limits.low;
  results.high = limits.high;
  return results;
}

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
