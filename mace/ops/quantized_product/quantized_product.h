// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Convolutions and products of quantized images with constant int8 weights
// (docs/reference/quantization.md), as every device computes them:
//
//   a[n] = start[n] + sum over k of q[k] * w[n][k]
//   start[n] = bias[n] - z * sum over k of w[n][k]   modulo 2^32
//   y[n] = clamp(round(a[n] * multiplier[n]) + zero point of the output)
//
// where z is the zero point of the input, in the integers that the device
// reads: a device may read uint8 as int8.

#ifndef MACE_OPS_QUANTIZED_PRODUCT_QUANTIZED_PRODUCT_H_
#define MACE_OPS_QUANTIZED_PRODUCT_QUANTIZED_PRODUCT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mace/core/base/data_type.h"
#include "mace/core/base/shape.h"
#include "mace/core/base/status.h"
#include "mace/core/model/packed_filter.h"
#include "mace/core/model/quantization.h"
#include "mace/core/model/tensor.h"

namespace mace {

// Where a filter has its outputs.
enum class FilterOrder : uint8_t {
  kOutputsFirst,  // [O, ...], plain or packed
  kTapsFirst,     // [KH, KW, C, M] of a depthwise convolution: C * M outputs
};
inline constexpr int64_t OutputAxis(FilterOrder order) {
  return order == FilterOrder::kTapsFirst ? 2 : 0;
}

// Whether each channel of the input is a group of its own, with the weights of
// one channel for each of its outputs: a depthwise convolution. `filter` is
// [O, KH, KW, channels of a group].
inline bool IsDepthwise(const Shape &filter, int64_t groups) {
  return groups > 1 && filter.rank() == 4 && filter[3] == 1;
}

// What keeps a constant from being the filter of a quantized product.
enum class FilterProblem : uint8_t {
  kNone,
  kNotQuantized,  // not int8, or without scales
  kZeroPoints,    // they are not all 0
  kScaleAxis,     // its scales are not by output channel
};
FilterProblem ProblemOfFilter(DataType type,
                              const Quantization *quantization,
                              FilterOrder order);

// The weights of a filter, in the layout of the model. It does not own them.
class ProductFilter {
 public:
  // `filter` has no problem. Without elements, or those axes, it has no
  // outputs.
  ProductFilter(const Tensor &filter, FilterOrder order);

  int64_t outputs() const { return outputs_; }
  int64_t depth() const { return depth_; }  // weights of an output
  // Weight k of an output, which are in the order of rows, columns and
  // channels.
  int8_t At(int64_t output, int64_t k) const;
  // In the order of the file: calls visit(output, weight) for each weight, or,
  // if they are packed, visit_block(first output, outputs, fours) for each
  // block of up to 16 outputs. A block has depth() / 4 fours of 16 outputs
  // each.
  template <typename Visit, typename VisitBlock>
  void ForEach(Visit visit, VisitBlock visit_block) const;

 private:
  enum class Layout : uint8_t { kPlain, kTaps, kPacked };

  const int8_t *weights_;
  Layout layout_;
  PackedFilter packed_;  // unused by other layouts
  int64_t outputs_ = 0;
  int64_t depth_ = 0;
};

// The sums of the weights of each output n: at 2 n of those above 0, at 2 n + 1
// of the others. A list of numbers, so that a runtime can keep it with a model.
using WeightSums = std::vector<int64_t>;
// `least`: null, or the least weight, which is at most 0.
WeightSums SumWeights(const ProductFilter &filter, int32_t *least = nullptr);

// The integers of a tensor, as a device reads or writes them.
struct IntegerRange {
  int32_t zero = 0;  // the zero point
  int32_t least = 0;
  int32_t most = 0;
};

// The numbers of one product.
struct ProductNumbers {
  IntegerRange input;
  float input_scale = 1;
  const Quantization *filter = nullptr;
  const Tensor *bias = nullptr;  // int32; null: 0
  float output_scale = 1;
};

// Whether the scales of the bias are those of the sums: INVALID_ARGS.
MaceStatus CheckBias(const ProductNumbers &numbers);

// All sums are in [low, high], whatever the image is, and 0 is.
struct SumRange {
  int64_t low = 0;
  int64_t high = 0;
};
SumRange RangeOfSums(const ProductNumbers &numbers, const WeightSums &weights);

// Of output n. The first two are for images of 8 bits, whose sums are int32
// modulo 2^32 and multiplied in float32, the others for images of 16 bits,
// whose sums are exact and multiplied in float64.
int32_t StartOf(const ProductNumbers &numbers,
                const WeightSums &weights,
                size_t n);
float MultiplierOf(const ProductNumbers &numbers, size_t n);
double Start16Of(const ProductNumbers &numbers,
                 const WeightSums &weights,
                 size_t n);
double Multiplier16Of(const ProductNumbers &numbers, size_t n);

template <typename Visit, typename VisitBlock>
void ProductFilter::ForEach(Visit visit, VisitBlock visit_block) const {
  const int8_t *weight = weights_;
  switch (layout_) {
    case Layout::kPacked:
      packed_.ForEachBlock([=](int64_t output, int64_t outputs, int64_t place) {
        visit_block(output, outputs, weight + place);
      });
      break;
    case Layout::kTaps:
      for (int64_t tap = 0; tap < depth_; ++tap) {
        for (int64_t output = 0; output < outputs_; ++output) {
          visit(output, *weight++);
        }
      }
      break;
    case Layout::kPlain:
      for (int64_t output = 0; output < outputs_; ++output) {
        for (int64_t k = 0; k < depth_; ++k) visit(output, *weight++);
      }
      break;
  }
}

}  // namespace mace

#endif  // MACE_OPS_QUANTIZED_PRODUCT_QUANTIZED_PRODUCT_H_
