// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/epilogue/quantized_conv.h"

#include <cmath>
#include <string>
#include <utility>

#include "mace/core/base/missing_part.h"
#include "mace/core/model/quantization.h"
#include "mace/kernels/cpu/gemm/int16_gemm.h"
#include "mace/kernels/cpu/gemm/quantized_gemm.h"
#include "mace/ops/cpu_op/quantized_tensor.h"
#include "mace/ops/cpu_op/row_bands.h"
#include "mace/ops/epilogue/conv_op_plan.h"

namespace mace {
namespace {

constexpr size_t kOutput = 0;

}  // namespace

class QuantizedConvPlan final : public OpPlan, private RowBands {
 public:
  QuantizedConvPlan(const QuantizedConv::Geometry &geometry,
                    const Tensor &input,
                    const Tensor &output,
                    std::unique_ptr<conv::Plan> plan)
      : geometry_(geometry),
        input_(KernelSide(input)),
        output_(KernelSide(output)),
        plan_(std::move(plan)) {}

  // Of the whole operator with 16 bits, for whole panels.
  void SetRequantization16(std::vector<double> bias,
                           std::vector<double> scale,
                           const QuantizedLimits &limits) {
    bias16_ = std::move(bias);
    scale16_ = std::move(scale);
    requantization16_.bias = bias16_.data();
    requantization16_.scale = scale16_.data();
    requantization16_.zero = output_.zero;
    requantization16_.low = limits.low;
    requantization16_.high = limits.high;
  }

  // Likewise with 8 bits.
  void SetRequantization(std::vector<int32_t> bias,
                         std::vector<float> scale,
                         const QuantizedLimits &limits,
                         int32_t least_weight,
                         bool bounded) {
    requantization_.least_weight = least_weight;
    requantization_.bounded = bounded;
    bias_ = std::move(bias);
    scale_ = std::move(scale);
    requantization_.bias = bias_.data();
    requantization_.scale = scale_.data();
    requantization_.zero = output_.zero;
    requantization_.low = limits.low;
    requantization_.high = limits.high;
  }

  size_t ScratchBytes(int threads, int64_t input_bytes) const {
    return CopyBytes(input_bytes) + plan_->ScratchBytes(threads);
  }

  void Run(RunContext *context) const {
    const Tensor &input = *context->input(QuantizedConv::kInput);
    const Tensor &output = *context->output(kOutput);
    ThreadPool *pool = context->thread_pool();
    auto *scratch = static_cast<uint8_t *>(context->scratch());
    conv::Args args = ArgsOf(input.data, output.data, output.RowStride());
    if (input_.flipped) {
      FlipSigns(input.As<uint8_t>(), scratch, input.bytes(), pool);
      args.input = scratch;
    }
    plan_->Run(args, nullptr, pool, scratch + CopyBytes(input.bytes()));
    if (output_.flipped) FlipRows(output, pool);
  }

  const RowBands *row_bands() const override {
    const bool whole = input_.flipped || output_.flipped;
    return geometry_.images && !whole && plan_->rows() != nullptr ? this
                                                                  : nullptr;
  }
  RowRange InputRows(const RowRange &output) const override {
    return RowsUnder(ConvRows(geometry_.shape), output);
  }
  size_t BandScratchBytes(int64_t rows) const override {
    return plan_->rows()->RowScratchBytes(static_cast<ptrdiff_t>(rows));
  }
  void RunBand(const RunContext & /*context*/,
               const BandRun &run) const override {
    plan_->rows()->RunRows(ImageRowsOf(geometry_.shape, run.rows),
                           ArgsOf(run.input, run.output, run.output_stride),
                           nullptr, run.scratch);
  }
  int64_t Macs() const override { return geometry_.macs; }
  ConvPoolArgs Geometry() const override { return geometry_.report; }
  std::string KernelName() const override { return plan_->Name(); }

 private:
  size_t CopyBytes(int64_t input_bytes) const {
    return input_.flipped ? (static_cast<size_t>(input_bytes) + 63) / 64 * 64
                          : 0;
  }

  conv::Args ArgsOf(const void *input, void *output, int64_t stride) const {
    conv::Args args;
    args.input = input;
    args.output = output;
    args.output_stride = static_cast<size_t>(stride);
    if (requantization16_.bias != nullptr) {
      args.epilogue.requantization16 = &requantization16_;
      args.padding = static_cast<uint16_t>(input_.zero);
    } else {
      constexpr uint16_t kTwice = 0x101;
      args.epilogue.requantization = &requantization_;
      args.padding =
          static_cast<uint16_t>(static_cast<uint8_t>(input_.zero) * kTwice);
    }
    return args;
  }

  const QuantizedConv::Geometry geometry_;
  const QuantizedSide input_;
  const QuantizedSide output_;
  const std::unique_ptr<conv::Plan> plan_;
  std::vector<int32_t> bias_;
  std::vector<float> scale_;
  gemm::Requantization requantization_;
  std::vector<double> bias16_;
  std::vector<double> scale16_;
  gemm::Requantization16 requantization16_;
};

namespace {

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

ProductNumbers NumbersOf(const PlanContext &context) {
  const Tensor &input = *context.input(QuantizedConv::kInput);
  ProductNumbers numbers;
  numbers.input = KernelSide(input);
  numbers.input_scale = input.quantization->scales[0];
  numbers.filter = context.input(QuantizedConv::kFilter)->quantization;
  numbers.bias = context.input(QuantizedConv::kBias);
  numbers.output_scale = context.output(kOutput)->quantization->scales[0];
  return numbers;
}

// See conv::Request::small_sums.
bool AreSmall(const SumRange &sums) {
  constexpr int64_t kLimit = int64_t{1} << 25;
  return sums.low >= -kLimit && sums.high < kLimit;
}

}  // namespace

MaceStatus QuantizedConv::Init(const InitContext &context,
                               const activation::Params &activation,
                               std::unique_ptr<conv::Strategy> strategy,
                               conv::FilterLayout layout) {
  if (!IsLimit(activation.kind)) {
    return Unsupported(
        "quantized, it has no activation but RELU and RELUX; convert the model "
        "again");
  }
  activation_ = activation;
  arithmetic_ =
      gemm::ArithmeticFor(IsInt16(context) ? gemm::ArithmeticKind::kInt16
                                           : gemm::ArithmeticKind::kQuantized,
                          context.isa());
  if (arithmetic_ == nullptr) {
    return Unsupported(kBuiltWithout, "the kernels for quantized products",
                       kBuildForThisModel);
  }
  const Tensor &filter = *context.constant(kFilter);
  const FilterOrder order = layout == conv::FilterLayout::kTaps
                                ? FilterOrder::kTapsFirst
                                : FilterOrder::kOutputsFirst;
  MACE_RETURN_IF_ERROR(CheckFilter(filter, order));
  strategy_ = std::move(strategy);
  layout_ = IsPacked(filter.layout) ? conv::FilterLayout::kFours : layout;
  // Other ranks and empty filters are errors of the shape function.
  weights_ = SumWeights(ProductFilter(filter, order), &least_weight_);
  return MaceStatus();
}

void QuantizedConv::SetRequantization(const ProductNumbers &numbers,
                                      int64_t depth,
                                      const QuantizedLimits &limits,
                                      QuantizedConvPlan *plan) const {
  const size_t columns = weights_.size() / 2;
  // Kernels read whole panels.
  std::vector<int32_t> sums(columns + gemm::kPanelColumns);
  std::vector<float> scales(columns + gemm::kPanelColumns);
  // Of the products of one result.
  const double most_products = 255.0 * 128.0 * static_cast<double>(depth);
  bool bounded = true;
  for (size_t n = 0; n < columns; ++n) {
    scales[n] = MultiplierOf(numbers, n);
    sums[n] = StartOf(numbers, weights_, n);
    const double most = most_products + std::fabs(static_cast<double>(sums[n]));
    bounded = bounded && most * static_cast<double>(scales[n]) < 0x1p30;
  }
  plan->SetRequantization(std::move(sums), std::move(scales), limits,
                          least_weight_, bounded);
}

void QuantizedConv::SetRequantization16(const ProductNumbers &numbers,
                                        const QuantizedLimits &limits,
                                        QuantizedConvPlan *plan) const {
  const size_t columns = weights_.size() / 2;
  // Kernels read whole panels.
  std::vector<double> sums(columns + gemm::kPanelColumns);
  std::vector<double> scales(columns + gemm::kPanelColumns);
  for (size_t n = 0; n < columns; ++n) {
    scales[n] = Multiplier16Of(numbers, n);
    sums[n] = Start16Of(numbers, weights_, n);
  }
  plan->SetRequantization16(std::move(sums), std::move(scales), limits);
}

MaceStatus QuantizedConv::Plan(const Geometry &geometry, PlanContext *context) {
  const Tensor &input = *context->input(kInput);
  const Tensor &filter = *context->input(kFilter);
  const Tensor &output = *context->output(kOutput);
  MACE_RETURN_IF_ERROR(CheckWidths({&input, &output}));
  if (output.elements() == 0) return MaceStatus();
  const int threads = context->thread_pool()->thread_count();
  conv::Request request;
  request.shape = geometry.shape;
  request.filter = filter.data;
  request.layout = layout_;
  request.arithmetic = arithmetic_;
  request.threads = threads;
  const ProductNumbers numbers = NumbersOf(*context);
  request.small_sums = AreSmall(RangeOfSums(numbers, weights_));
  std::unique_ptr<conv::Plan> strategy = strategy_->MakePlan(request);
  if (strategy == nullptr) {
    return Unsupported("quantized, it has groups of one channel, not ",
                       geometry.shape.in_c / geometry.shape.groups);
  }
  if (strategy->PreparedBytes() > 0) {
    conv::Plan *taker = strategy.get();
    context->RequestPrepared(taker->PreparedBytes(), [taker](void *memory) {
      return taker->TakePrepared(memory);
    });
  }
  auto plan = std::make_unique<QuantizedConvPlan>(geometry, input, output,
                                                  std::move(strategy));

  MACE_RETURN_IF_ERROR(CheckBias(numbers));
  const QuantizedLimits limits =
      LimitsOf(KernelSide(output), activation_, numbers.output_scale);
  if (mace::IsInt16(output)) {
    SetRequantization16(numbers, limits, plan.get());
  } else {
    SetRequantization(numbers, filter.elements() / geometry.shape.out_c, limits,
                      plan.get());
  }
  context->RequestScratch(plan->ScratchBytes(threads, input.bytes()));
  if (geometry.images) context->AllowStridedOutput(kOutput);
  context->Keep(std::move(plan));
  return MaceStatus();
}

void QuantizedConv::Run(RunContext *context) {
  if (context->plan() == nullptr) return;
  context->PlanAs<QuantizedConvPlan>().Run(context);
}

}  // namespace mace
