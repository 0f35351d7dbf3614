// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/epilogue/quantized_conv.h"

#include <algorithm>
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

// How far a scale of a bias may be from the product of the others: a converter
// may have computed it in double.
constexpr float kScaleError = 1e-5f;

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

MaceStatus CheckFilter(const Tensor &filter, int64_t channel_axis) {
  const Quantization &q = *filter.quantization;
  const bool shifted = std::any_of(q.zero_points.begin(), q.zero_points.end(),
                                   [](int64_t zero) { return zero != 0; });
  if (shifted) return InvalidArgs("the zero points of the filter must be 0");
  if (!q.per_tensor() && q.axis != channel_axis) {
    return InvalidArgs("the scales of the filter are of axis ", q.axis,
                       "; they must be those of its output channels, axis ",
                       channel_axis);
  }
  return MaceStatus();
}

float ScaleAt(const Quantization &q, size_t channel) {
  return q.scales[q.per_tensor() ? 0 : channel];
}

int32_t BiasAt(const Tensor *bias, size_t channel) {
  return bias == nullptr ? 0 : bias->As<int32_t>()[channel];
}

// Whether its scales are those of the sums.
MaceStatus CheckBias(const Tensor &input,
                     const Tensor &filter,
                     const Tensor &bias) {
  const auto channels = static_cast<size_t>(bias.elements());
  for (size_t n = 0; n < channels; ++n) {
    const float product =
        input.quantization->scales[0] * ScaleAt(*filter.quantization, n);
    const float stated = ScaleAt(*bias.quantization, n);
    if (!(std::fabs(stated - product) <= kScaleError * product)) {
      return InvalidArgs("the bias of channel ", n, " has the scale ", stated,
                         ", not that of the input times that of the filter, ",
                         product);
    }
  }
  return MaceStatus();
}

}  // namespace

// The sums of the weights of each of `channels` outputs, and the least weight.
std::vector<QuantizedConv::WeightSums> QuantizedConv::SumWeights(
    const Tensor &filter,
    int64_t channels,
    conv::FilterLayout layout,
    int32_t *least) {
  std::vector<WeightSums> sums(static_cast<size_t>(channels));
  const auto *weights = filter.As<int8_t>();
  const int64_t depth = filter.elements() / channels;
  const auto add = [&](WeightSums *sum) {
    sum->all += *weights;
    sum->positive += std::max<int32_t>(*weights, 0);
    *least = std::min<int32_t>(*least, *weights++);
  };
  switch (layout) {
    case conv::FilterLayout::kTaps:
      for (int64_t tap = 0; tap < depth; ++tap) {
        for (WeightSums &sum : sums) add(&sum);
      }
      break;
    case conv::FilterLayout::kFours: {
      // Each group begins with a panel. What pads the last panel is 0.
      const int64_t columns = channels / filter.groups;
      const int64_t panel = gemm::kPanelColumns;
      for (int64_t group = 0; group < channels; group += columns) {
        for (int64_t begin = 0; begin < columns; begin += panel) {
          WeightSums of_panel[gemm::kPanelColumns] = {};
          for (int64_t k = 0; k < depth; k += 4) {
            for (WeightSums &sum : of_panel) {
              for (int i = 0; i < 4; ++i) add(&sum);
            }
          }
          std::copy_n(of_panel, std::min(panel, columns - begin),
                      &sums[static_cast<size_t>(group + begin)]);
        }
      }
      break;
    }
    default:
      for (WeightSums &sum : sums) {
        for (int64_t k = 0; k < depth; ++k) add(&sum);
      }
  }
  return sums;
}

struct QuantizedConv::Operands {
  const Tensor &input;
  const Tensor &filter;
  const Tensor *bias;  // may be null
  const Tensor &output;
};

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
  if (filter.quantization == nullptr) {
    return InvalidArgs("the filter has no scales");
  }
  const bool taps_first = layout == conv::FilterLayout::kTaps;
  MACE_RETURN_IF_ERROR(CheckFilter(filter, taps_first ? 2 : 0));
  strategy_ = std::move(strategy);
  layout_ = IsPacked(filter.layout) ? conv::FilterLayout::kFours : layout;
  const Shape &shape = filter.shape;
  // Other ranks and empty filters are errors of the shape function.
  const size_t rank = taps_first ? 4 : 1;
  if (shape.rank() < rank || filter.elements() == 0) return MaceStatus();
  sums_ = SumWeights(filter, taps_first ? shape[2] * shape[3] : shape[0],
                     layout_, &least_weight_);
  return MaceStatus();
}

bool QuantizedConv::HasSmallSums(const Tensor &input,
                                 const Tensor *bias) const {
  constexpr int64_t kLimit = int64_t{1} << 25;
  const QuantizedSide side = KernelSide(input);
  const int64_t least = side.least - side.zero;
  const int64_t most = side.most - side.zero;
  for (size_t n = 0; n < sums_.size(); ++n) {
    const int64_t start = BiasAt(bias, n);
    const int64_t positive = sums_[n].positive;
    const int64_t negative = sums_[n].all - positive;
    if (start + positive * least + negative * most < -kLimit ||
        start + positive * most + negative * least >= kLimit) {
      return false;
    }
  }
  return true;
}

void QuantizedConv::SetRequantization(const Operands &operands,
                                      const QuantizedLimits &limits,
                                      QuantizedConvPlan *plan) const {
  const Quantization &filter = *operands.filter.quantization;
  const QuantizedSide from = KernelSide(operands.input);
  const float input_scale = operands.input.quantization->scales[0];
  const float output_scale = operands.output.quantization->scales[0];
  const size_t columns = sums_.size();
  // Kernels read whole panels.
  std::vector<int32_t> sums(columns + gemm::kPanelColumns);
  std::vector<float> scales(columns + gemm::kPanelColumns);
  // Of the products of one result.
  const double most_products =
      columns == 0
          ? 0.0
          : 255.0 * 128.0 * static_cast<double>(operands.filter.elements()) /
                static_cast<double>(columns);
  bool bounded = true;
  for (size_t n = 0; n < columns; ++n) {
    const float product = input_scale * ScaleAt(filter, n);
    scales[n] = product / output_scale;
    // Modulo 2^32, as the sums.
    auto start =
        static_cast<uint32_t>(0) -
        static_cast<uint32_t>(from.zero) * static_cast<uint32_t>(sums_[n].all);
    start += static_cast<uint32_t>(BiasAt(operands.bias, n));
    sums[n] = static_cast<int32_t>(start);
    const double most = most_products + std::fabs(static_cast<double>(sums[n]));
    bounded = bounded && most * static_cast<double>(scales[n]) < 0x1p30;
  }
  plan->SetRequantization(std::move(sums), std::move(scales), limits,
                          least_weight_, bounded);
}

void QuantizedConv::SetRequantization16(const Operands &operands,
                                        const QuantizedLimits &limits,
                                        QuantizedConvPlan *plan) const {
  const Quantization &filter = *operands.filter.quantization;
  const int64_t zero = KernelSide(operands.input).zero;
  const double input_scale = operands.input.quantization->scales[0];
  const double output_scale = operands.output.quantization->scales[0];
  const size_t columns = sums_.size();
  // Kernels read whole panels.
  std::vector<double> sums(columns + gemm::kPanelColumns);
  std::vector<double> scales(columns + gemm::kPanelColumns);
  for (size_t n = 0; n < columns; ++n) {
    scales[n] =
        input_scale * static_cast<double>(ScaleAt(filter, n)) / output_scale;
    sums[n] =
        static_cast<double>(BiasAt(operands.bias, n) - zero * sums_[n].all);
  }
  plan->SetRequantization16(std::move(sums), std::move(scales), limits);
}

MaceStatus QuantizedConv::Plan(const Geometry &geometry, PlanContext *context) {
  const Tensor &input = *context->input(kInput);
  const Tensor &filter = *context->input(kFilter);
  const Tensor *bias = context->input(kBias);
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
  request.small_sums = HasSmallSums(input, bias);
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

  if (bias != nullptr) MACE_RETURN_IF_ERROR(CheckBias(input, filter, *bias));
  const QuantizedLimits limits =
      LimitsOf(KernelSide(output), activation_, output.quantization->scales[0]);
  const Operands operands = {input, filter, bias, output};
  if (mace::IsInt16(output)) {
    SetRequantization16(operands, limits, plan.get());
  } else {
    SetRequantization(operands, limits, plan.get());
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
