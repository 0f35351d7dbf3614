// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/epilogue/quantized_conv.h"

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "mace/core/base/aligned_memory.h"
#include "mace/core/base/missing_part.h"
#include "mace/core/model/quantization.h"
#include "mace/kernels/cpu/gemm/int16_gemm.h"
#include "mace/kernels/cpu/gemm/quantized_gemm.h"
#include "mace/ops/cpu_op/quantized_tensor.h"
#include "mace/ops/quantized_product/limits.h"

namespace mace {
namespace {

constexpr size_t kOutput = 0;

// Kernels read a number of each column, and of the rest of the last panel.
template <typename T>
std::vector<T> NumbersOfColumns(size_t columns) {
  return std::vector<T>(columns + gemm::kPanelColumns);
}

class NumbersOf8Bits final : public ConvNumbers {
 public:
  NumbersOf8Bits(const QuantizedSide &input, const QuantizedSide &output)
      : input_(input), output_(output) {}

  // `depth`: of the products of one result.
  void SetSums(const ProductNumbers &product,
               const WeightSums &weights,
               int64_t depth) {
    const size_t columns = weights.size() / 2;
    bias_ = NumbersOfColumns<int32_t>(columns);
    scale_ = NumbersOfColumns<float>(columns);
    const double most_products = 255.0 * 128.0 * static_cast<double>(depth);
    bool bounded = true;
    for (size_t n = 0; n < columns; ++n) {
      scale_[n] = MultiplierOf(product, n);
      bias_[n] = StartOf(product, weights, n);
      const double most =
          most_products + std::fabs(static_cast<double>(bias_[n]));
      bounded = bounded && most * static_cast<double>(scale_[n]) < 0x1p30;
    }
    requantization_.bounded = bounded;
    requantization_.bias = bias_.data();
    requantization_.scale = scale_.data();
  }
  void SetResults(const QuantizedLimits &limits, int32_t least_weight) {
    requantization_.least_weight = least_weight;
    requantization_.zero = output_.zero;
    requantization_.low = limits.low;
    requantization_.high = limits.high;
  }

  void SetArgs(conv::Args *args) const override {
    constexpr uint16_t kTwice = 0x101;
    args->epilogue.requantization = &requantization_;
    args->padding =
        static_cast<uint16_t>(static_cast<uint8_t>(input_.zero) * kTwice);
  }
  bool ConvertsTensors() const override {
    return input_.flipped || output_.flipped;
  }
  size_t CopyBytes(int64_t input_bytes) const override {
    return input_.flipped ? AlignUp(static_cast<size_t>(input_bytes)) : 0;
  }
  const void *ConvertInput(const Tensor &input,
                           void *copy,
                           ThreadPool *pool) const override {
    if (!input_.flipped) return input.data;
    FlipSigns(input.As<uint8_t>(), static_cast<uint8_t *>(copy), input.bytes(),
              pool);
    return copy;
  }
  void ConvertOutput(const Tensor &output, ThreadPool *pool) const override {
    if (output_.flipped) FlipRows(output, pool);
  }

 private:
  const QuantizedSide input_;
  const QuantizedSide output_;
  std::vector<int32_t> bias_;
  std::vector<float> scale_;
  gemm::Requantization requantization_;
};

class NumbersOf16Bits final : public ConvNumbers {
 public:
  NumbersOf16Bits(const ProductNumbers &product,
                  const WeightSums &weights,
                  const QuantizedSide &output,
                  const QuantizedLimits &limits)
      : input_zero_(product.input.zero),
        bias_(NumbersOfColumns<double>(weights.size() / 2)),
        scale_(NumbersOfColumns<double>(weights.size() / 2)) {
    for (size_t n = 0; n < weights.size() / 2; ++n) {
      scale_[n] = Multiplier16Of(product, n);
      bias_[n] = Start16Of(product, weights, n);
    }
    requantization_.bias = bias_.data();
    requantization_.scale = scale_.data();
    requantization_.zero = output.zero;
    requantization_.low = limits.low;
    requantization_.high = limits.high;
  }

  void SetArgs(conv::Args *args) const override {
    args->epilogue.requantization16 = &requantization_;
    args->padding = static_cast<uint16_t>(input_zero_);
  }

 private:
  const int32_t input_zero_;
  std::vector<double> bias_;
  std::vector<double> scale_;
  gemm::Requantization16 requantization_;
};

MaceStatus CheckFilter(const Tensor &filter, FilterOrder order) {
  switch (ProblemOfFilter(filter.data_type, filter.quantization, order)) {
    case FilterProblem::kNotQuantized:
      return InvalidArgs("the filter has no scales");
    case FilterProblem::kZeroPoints:
      return InvalidArgs("the zero points of the filter must be 0");
    case FilterProblem::kScaleAxis:
      return InvalidArgs("the scales of the filter are of axis ",
                         filter.quantization->axis,
                         "; they must be those of its output channels, axis ",
                         OutputAxis(order));
    default:
      return MaceStatus();
  }
}

ProductNumbers ProductOf(const PlanContext &context, const ConvPorts &ports) {
  const Tensor &input = *context.input(ports.input);
  ProductNumbers product;
  product.input = KernelSide(input);
  product.input_scale = input.quantization->scales[0];
  product.filter = context.input(ports.filter)->quantization;
  product.bias = context.input(ports.bias);
  product.output_scale = context.output(kOutput)->quantization->scales[0];
  return product;
}

// See conv::Request::small_sums.
bool AreSmall(const SumRange &sums) {
  constexpr int64_t kLimit = int64_t{1} << 25;
  return sums.low >= -kLimit && sums.high < kLimit;
}

bool HasInt16Images(const InitContext &context) {
  const auto &quantization = context.def().output_quantization;
  return !quantization.empty() && quantization[0].data_type == DataType::kInt16;
}

conv::FilterLayout LayoutOf(const Tensor &filter, FilterOrder order) {
  if (IsPacked(filter.layout)) return conv::FilterLayout::kFours;
  return order == FilterOrder::kTapsFirst ? conv::FilterLayout::kTaps
                                          : conv::FilterLayout::kPanels;
}

}  // namespace

MaceStatus QuantizedConv::Init(const InitContext &context,
                               const ConvPorts &ports,
                               const activation::Params &activation,
                               FilterOrder order) {
  if (!IsLimit(activation.kind)) {
    return Unsupported(
        "quantized, it has no activation but RELU and RELUX; convert the model "
        "again");
  }
  ports_ = ports;
  activation_ = activation;
  const bool int16 = HasInt16Images(context);
  arithmetic_ = gemm::ArithmeticFor(
      int16 ? gemm::ArithmeticKind::kInt16 : gemm::ArithmeticKind::kQuantized,
      context.isa());
  if (arithmetic_ == nullptr) {
    return Unsupported(kBuiltWithout, "the kernels for quantized products",
                       kBuildForThisModel);
  }
  const Tensor &filter = *context.constant(ports.filter);
  MACE_RETURN_IF_ERROR(CheckFilter(filter, order));
  if (int16) {
    strategies_.InitInt16(context.isa());
  } else {
    strategies_.InitQuantized(context.isa(), context.hints().winograd);
  }
  layout_ = LayoutOf(filter, order);
  // Other ranks and empty filters are errors of the shape function.
  weights_ = SumWeights(ProductFilter(filter, order), &least_weight_);
  return MaceStatus();
}

std::unique_ptr<const ConvNumbers> QuantizedConv::MakeNumbers(
    const PlanContext &context,
    const ProductNumbers &product,
    int64_t depth) const {
  const Tensor &output = *context.output(kOutput);
  const QuantizedSide results = KernelSide(output);
  const QuantizedLimits limits =
      LimitsOf(results, activation_, product.output_scale);
  if (IsInt16(output)) {
    return std::make_unique<NumbersOf16Bits>(product, weights_, results,
                                             limits);
  }
  auto numbers = std::make_unique<NumbersOf8Bits>(
      KernelSide(*context.input(ports_.input)), results);
  numbers->SetSums(product, weights_, depth);
  numbers->SetResults(limits, least_weight_);
  return numbers;
}

MaceStatus QuantizedConv::Plan(ConvOpPlan::Settings settings,
                               const conv::Shape &shape,
                               PlanContext *context) const {
  const Tensor &output = *context->output(kOutput);
  MACE_RETURN_IF_ERROR(CheckWidths({context->input(ports_.input), &output}));
  settings.ports = ports_;
  conv::Request request;
  request.shape = shape;
  request.layout = layout_;
  request.arithmetic = arithmetic_;
  std::unique_ptr<const ConvNumbers> numbers;
  if (output.elements() > 0) {
    const ProductNumbers product = ProductOf(*context, ports_);
    MACE_RETURN_IF_ERROR(CheckBias(product));
    request.small_sums = AreSmall(RangeOfSums(product, weights_));
    const int64_t filter = context->input(ports_.filter)->elements();
    numbers = MakeNumbers(*context, product, filter / shape.out_c);
  }
  return ConvOpPlan::Make(settings, strategies_, request, context,
                          std::move(numbers));
}

}  // namespace mace
