// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/quantized_product/quantized_product.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace mace {
namespace {

// How far a scale of a bias may be from the product of the others: a converter
// may have computed it in double.
constexpr float kScaleError = 1e-5f;

float ScaleAt(const Quantization &q, size_t channel) {
  return q.scales[q.per_tensor() ? 0 : channel];
}

int32_t BiasAt(const ProductNumbers &numbers, size_t n) {
  return numbers.bias == nullptr ? 0 : numbers.bias->As<int32_t>()[n];
}

int64_t AllWeights(const WeightSums &weights, size_t n) {
  return weights[2 * n] + weights[2 * n + 1];
}

// Weights are summed so many at a time: fours of a part of a block.
constexpr int64_t kTogether = 16;
constexpr int64_t kBlockBytes = kPackedBlock * kPackedFour;
typedef int8_t Weights __attribute__((vector_size(kTogether)));
typedef int16_t Pairs __attribute__((vector_size(kTogether)));
constexpr int64_t kPairs = kTogether / 2;

// The sums of the weights of each pair.
Pairs SumPairs(Weights weights) {
  typedef uint16_t Bits __attribute__((vector_size(kTogether)));
  const auto bits = reinterpret_cast<Bits>(weights);
  return (reinterpret_cast<Pairs>(bits << 8) >> 8) +
         (reinterpret_cast<Pairs>(bits) >> 8);
}

// Of 16 outputs, of which each has two pairs of a four.
struct BlockSums {
  int64_t above[kBlockBytes / 2] = {};  // of weights above 0
  int64_t below[kBlockBytes / 2] = {};
  int8_t least[kBlockBytes] = {};
};

// Adds the part of `count` fours that begins with byte `at`.
void AddPart(const int8_t *fours, int64_t count, int64_t at, BlockSums *sums) {
  Pairs above = {};
  Pairs below = {};
  Weights least;
  std::memcpy(&least, sums->least + at, sizeof(least));
  for (int64_t i = 0; i < count; ++i) {
    Weights weights;
    std::memcpy(&weights, fours + i * kBlockBytes + at, sizeof(weights));
    above += SumPairs(weights & (weights > 0));
    below += SumPairs(weights & (weights < 0));
    least = weights < least ? weights : least;
  }
  std::memcpy(sums->least + at, &least, sizeof(least));
  for (int64_t pair = 0; pair < kPairs; ++pair) {
    sums->above[at / 2 + pair] += above[pair];
    sums->below[at / 2 + pair] += below[pair];
  }
}

BlockSums SumBlock(const int8_t *fours, int64_t count) {
  // Sums of so many pairs have 16 bits.
  constexpr int64_t kMost = INT16_MIN / (2 * INT8_MIN);
  BlockSums sums;
  for (int64_t i = 0; i < count; i += kMost) {
    for (int64_t at = 0; at < kBlockBytes; at += kTogether) {
      AddPart(fours + i * kBlockBytes, std::min(kMost, count - i), at, &sums);
    }
  }
  return sums;
}

}  // namespace

FilterProblem ProblemOfFilter(DataType type,
                              const Quantization *quantization,
                              FilterOrder order) {
  if (type != DataType::kInt8 || quantization == nullptr ||
      quantization->scales.empty()) {
    return FilterProblem::kNotQuantized;
  }
  const Quantization &q = *quantization;
  const bool shifted = std::any_of(q.zero_points.begin(), q.zero_points.end(),
                                   [](int64_t zero) { return zero != 0; });
  if (shifted) return FilterProblem::kZeroPoints;
  if (!q.per_tensor() && q.axis != OutputAxis(order)) {
    return FilterProblem::kScaleAxis;
  }
  return FilterProblem::kNone;
}

ProductFilter::ProductFilter(const Tensor &filter, FilterOrder order)
    : weights_(filter.As<int8_t>()),
      layout_(order == FilterOrder::kTapsFirst ? Layout::kTaps
              : IsPacked(filter.layout)        ? Layout::kPacked
                                               : Layout::kPlain),
      packed_(filter) {
  const Shape &shape = filter.shape;
  const bool taps_first = order == FilterOrder::kTapsFirst;
  if (shape.rank() < (taps_first ? 4 : 1) || filter.elements() == 0) return;
  outputs_ = taps_first ? shape[2] * shape[3] : shape[0];
  depth_ = filter.elements() / outputs_;
}

int8_t ProductFilter::At(int64_t output, int64_t k) const {
  switch (layout_) {
    case Layout::kPacked:
      return weights_[packed_.At(output, k)];
    case Layout::kTaps:
      return weights_[k * outputs_ + output];
    default:
      return weights_[output * depth_ + k];
  }
}

WeightSums SumWeights(const ProductFilter &filter, int32_t *least) {
  WeightSums sums(static_cast<size_t>(2 * filter.outputs()));
  int64_t *of = sums.data();
  int32_t smallest = 0;
  const auto add = [&](int64_t output, int32_t weight) {
    of[2 * output] += std::max(weight, 0);
    of[2 * output + 1] += std::min(weight, 0);
    smallest = std::min(smallest, weight);
  };
  filter.ForEach(add, [&](int64_t first, int64_t outputs, const int8_t *fours) {
    const BlockSums block = SumBlock(fours, filter.depth() / kPackedFour);
    for (int64_t i = 0; i < 2 * outputs; ++i) {
      of[2 * first + i / 2 * 2] += block.above[i];
      of[2 * first + i / 2 * 2 + 1] += block.below[i];
    }
    const auto *end = block.least + outputs * kPackedFour;
    smallest = std::min<int32_t>(smallest, *std::min_element(block.least, end));
  });
  if (least != nullptr) *least = smallest;
  return sums;
}

MaceStatus CheckBias(const ProductNumbers &numbers) {
  if (numbers.bias == nullptr) return MaceStatus();
  const auto channels = static_cast<size_t>(numbers.bias->elements());
  for (size_t n = 0; n < channels; ++n) {
    const float product = numbers.input_scale * ScaleAt(*numbers.filter, n);
    const float stated = ScaleAt(*numbers.bias->quantization, n);
    if (!(std::fabs(stated - product) <= kScaleError * product)) {
      return InvalidArgs("the bias of channel ", n, " has the scale ", stated,
                         ", not that of the input times that of the filter, ",
                         product);
    }
  }
  return MaceStatus();
}

SumRange RangeOfSums(const ProductNumbers &numbers, const WeightSums &weights) {
  const IntegerRange &input = numbers.input;
  const int64_t least = int64_t{input.least} - input.zero;
  const int64_t most = int64_t{input.most} - input.zero;
  SumRange range;
  for (size_t n = 0; 2 * n < weights.size(); ++n) {
    const int64_t bias = BiasAt(numbers, n);
    const int64_t positive = weights[2 * n];
    const int64_t negative = weights[2 * n + 1];
    range.low = std::min(range.low, bias + positive * least + negative * most);
    range.high =
        std::max(range.high, bias + positive * most + negative * least);
  }
  return range;
}

int32_t StartOf(const ProductNumbers &numbers,
                const WeightSums &weights,
                size_t n) {
  const auto all = static_cast<uint32_t>(AllWeights(weights, n));
  return static_cast<int32_t>(static_cast<uint32_t>(BiasAt(numbers, n)) -
                              static_cast<uint32_t>(numbers.input.zero) * all);
}

float MultiplierOf(const ProductNumbers &numbers, size_t n) {
  const float product = numbers.input_scale * ScaleAt(*numbers.filter, n);
  return product / numbers.output_scale;
}

double Start16Of(const ProductNumbers &numbers,
                 const WeightSums &weights,
                 size_t n) {
  return static_cast<double>(BiasAt(numbers, n) -
                             numbers.input.zero * AllWeights(weights, n));
}

double Multiplier16Of(const ProductNumbers &numbers, size_t n) {
  return double{numbers.input_scale} *
         static_cast<double>(ScaleAt(*numbers.filter, n)) /
         double{numbers.output_scale};
}

}  // namespace mace
