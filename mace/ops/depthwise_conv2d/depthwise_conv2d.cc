// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>
#include <utility>

#include "mace/kernels/cpu/dwconv/dwconv.h"
#include "mace/kernels/cpu/dwconv/ranges.h"
#include "mace/kernels/cpu/half_arithmetic.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/row_bands.h"
#include "mace/ops/depthwise_conv2d/depthwise_conv2d_schema.h"
#include "mace/ops/epilogue/filter_constants.h"
#include "mace/ops/epilogue/fused_activation.h"
#include "mace/ops/window/window.h"

namespace mace {
namespace {

// What attributes, the deployment and the instruction set decide.
struct DepthwiseConv2dSettings {
  DepthwiseConv2dAttributes attributes;
  FusedActivation activation;
  const dwconv::Kernels *kernels = nullptr;
  DataType type = DataType::kFloat32;  // of activations
};

class DepthwiseConv2dPlan final : public OpPlan, private RowBands {
 public:
  // `settings` belong to the operator, which outlives the plan.
  DepthwiseConv2dPlan(const DepthwiseConv2dSettings *settings,
                      const PlanContext &context,
                      const WindowGeometry &window);

  size_t thread_scratch_bytes() const { return scratch_bytes_; }

  void Run(RunContext *context) const {
    if (macs_ == 0) return;
    dwconv::Args args = ArgsFor(*context);
    args.input = context->input(kDepthwiseConv2dInputInput)->data;
    Tensor *output = context->output(kDepthwiseConv2dOutputOutput);
    args.output = output->data;
    args.output_stride = static_cast<ptrdiff_t>(output->RowStride());
    char *scratch = static_cast<char *>(context->scratch());
    context->thread_pool()->ParallelFor(
        ranges_.count(), 1, [&](int64_t begin, int64_t end, int thread) {
          void *own = scratch + static_cast<size_t>(thread) * scratch_bytes_;
          for (int64_t part = begin; part < end; ++part) {
            const dwconv::Range range =
                dwconv::RangeOf(ranges_, static_cast<ptrdiff_t>(part));
            settings_.kernels->run(args, range, own);
            Activate(args, range);
          }
        });
  }

  const RowBands *row_bands() const override {
    return macs_ == 0 ? nullptr : this;
  }
  RowRange InputRows(const RowRange &output) const override {
    return RowsOf(args_.shape).InputRows(output);
  }
  size_t BandScratchBytes(int64_t) const override { return scratch_bytes_; }
  void RunBand(const RunContext &context, const BandRun &run) const override {
    const RowWindow window = RowsOf(args_.shape);
    const RowRange rows = window.InputRows(run.rows);
    dwconv::Args args = ArgsFor(context);
    args.input = run.input;
    args.output = run.output;
    args.output_stride = static_cast<ptrdiff_t>(run.output_stride);
    dwconv::Shape &s = args.shape;
    s.batch = 1;
    s.in_h = static_cast<ptrdiff_t>(rows.count());
    s.out_h = static_cast<ptrdiff_t>(run.rows.count());
    s.pad_top = static_cast<ptrdiff_t>(rows.begin - window.Top(run.rows.begin));
    const dwconv::Range range = {0, s.out_h, 0, s.in_c};
    settings_.kernels->run(args, range, run.scratch);
    Activate(args, range);
  }

  int64_t Macs() const override { return macs_; }
  ConvPoolArgs Geometry() const override {
    return ReportWindow(
        MakeWindowSpec(settings_.attributes, filter_[0], filter_[1]), window_,
        filter_);
  }
  std::string KernelName() const override {
    if (macs_ == 0) return "none";
    if (settings_.type == DataType::kFloat32) return "dwconv";
    return settings_.type == DataType::kFloat16 ? "dwconv in fp16"
                                                : "dwconv in bf16";
  }

 private:
  static RowWindow RowsOf(const dwconv::Shape &s) {
    return {s.kernel_h, s.stride_h, s.dilation_h, s.pad_top, s.in_h};
  }

  // All but input and output.
  dwconv::Args ArgsFor(const RunContext &context) const {
    const Tensor *bias = context.input(kDepthwiseConv2dBiasInput);
    dwconv::Args args = args_;
    args.filter = context.input(kDepthwiseConv2dFilterInput)->data;
    args.bias = bias == nullptr ? nullptr : bias->As<float>();
    return args;
  }

  void Activate(const dwconv::Args &args, const dwconv::Range &range) const {
    const dwconv::Shape &s = args.shape;
    const ptrdiff_t at = range.row_begin * s.out_w * args.output_stride +
                         range.group_begin * s.multiplier;
    const ptrdiff_t rows = (range.row_end - range.row_begin) * s.out_w;
    const ptrdiff_t columns =
        (range.group_end - range.group_begin) * s.multiplier;
    if (settings_.type != DataType::kFloat32) {
      settings_.activation.Apply(static_cast<uint16_t *>(args.output) + at,
                                 settings_.type, rows, columns,
                                 args.output_stride);
    } else {
      settings_.activation.Apply(static_cast<float *>(args.output) + at, rows,
                                 columns, args.output_stride);
    }
  }

  const DepthwiseConv2dSettings &settings_;
  const WindowGeometry window_;
  const Shape filter_;
  const int64_t macs_;
  dwconv::Args args_;         // all but the pointers
  size_t scratch_bytes_ = 0;  // per thread
  dwconv::Ranges ranges_;
};

DepthwiseConv2dPlan::DepthwiseConv2dPlan(
    const DepthwiseConv2dSettings *settings,
    const PlanContext &context,
    const WindowGeometry &window)
    : settings_(*settings),
      window_(window),
      filter_(context.input(kDepthwiseConv2dFilterInput)->shape),
      macs_(context.output(kDepthwiseConv2dOutputOutput)->elements() *
            filter_[0] * filter_[1]) {
  if (macs_ == 0) return;
  const Shape &input = context.input(kDepthwiseConv2dInputInput)->shape;
  const Shape &output = context.output(kDepthwiseConv2dOutputOutput)->shape;
  const auto index = [](int64_t x) { return static_cast<ptrdiff_t>(x); };
  dwconv::Shape &s = args_.shape;
  s.batch = index(input[0]);
  s.in_h = index(input[1]);
  s.in_w = index(input[2]);
  s.in_c = index(input[3]);
  s.multiplier = index(filter_[3]);
  s.kernel_h = index(filter_[0]);
  s.kernel_w = index(filter_[1]);
  s.stride_h = index(settings_.attributes.strides[0]);
  s.stride_w = index(settings_.attributes.strides[1]);
  s.dilation_h = index(settings_.attributes.dilations[0]);
  s.dilation_w = index(settings_.attributes.dilations[1]);
  s.pad_top = index(window.pad_before[0]);
  s.pad_left = index(window.pad_before[1]);
  s.out_h = index(output[1]);
  s.out_w = index(output[2]);
  args_.type = DepthwiseWeightType(
      context.input(kDepthwiseConv2dFilterInput)->data_type);
  args_.clamp = settings_.activation.clamp();
  args_.low = settings_.activation.low();
  args_.high = settings_.activation.high();
  ranges_ =
      dwconv::SplitRanges(args_.shape, context.thread_pool()->thread_count());
  scratch_bytes_ = settings_.kernels->scratch_bytes(args_.shape, args_.type);
  scratch_bytes_ = (scratch_bytes_ + 63) & ~size_t{63};
}

class DepthwiseConv2dOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    MACE_RETURN_IF_ERROR(settings_.attributes.Parse(context->def()));
    MACE_RETURN_IF_ERROR(
        settings_.activation.Init(context->def(), settings_.attributes, isa()));
    settings_.kernels = dwconv::KernelsFor(isa());
    const DeploymentHints &hints = context->hints();
    const dwconv::Kernels *half = HalfTablesFor(isa(), hints.precision).dwconv;
    if (half != nullptr) {
      settings_.kernels = half;
      settings_.type = StorageType(hints.precision);
    }
    const Tensor &filter = *context->constant(kDepthwiseConv2dFilterInput);
    const Tensor *bias = context->constant(kDepthwiseConv2dBiasInput);
    const std::string wrong = WrongDepthwiseConstants(filter, bias);
    return wrong.empty() ? MaceStatus() : Invalid(wrong);
  }

  MaceStatus InferShapes(ShapeContext *context) const override {
    const Shape &input = context->input(kDepthwiseConv2dInputInput)->shape;
    const Shape &filter = context->input(kDepthwiseConv2dFilterInput)->shape;
    if (input.rank() != 4 || input[3] != filter[2]) {
      return Invalid("input has shape ", input.ToString(), " but the filter ",
                     filter.ToString(), " takes [N, H, W, ", filter[2], "]");
    }
    MACE_ASSIGN_OR_RETURN(const WindowGeometry window, Window(input, filter));
    return SetOutput(
        context, kDepthwiseConv2dOutputOutput,
        {input[0], window.output[0], window.output[1], filter[2] * filter[3]},
        DataType::kFloat32);
  }

  MaceStatus Plan(PlanContext *context) override {
    MACE_ASSIGN_OR_RETURN(
        const WindowGeometry window,
        Window(context->input(kDepthwiseConv2dInputInput)->shape,
               context->input(kDepthwiseConv2dFilterInput)->shape));
    context->AllowStridedOutput(kDepthwiseConv2dOutputOutput);
    auto plan =
        std::make_unique<DepthwiseConv2dPlan>(&settings_, *context, window);
    context->RequestScratch(
        plan->thread_scratch_bytes() *
        static_cast<size_t>(context->thread_pool()->thread_count()));
    context->Keep(std::move(plan));
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    context->PlanAs<DepthwiseConv2dPlan>().Run(context);
    return MaceStatus();
  }

  HalfUse half_use() const override {
    return settings_.type == DataType::kFloat32 ? HalfUse::kNone
                                                : HalfUse::kComputes;
  }

 private:
  Result<WindowGeometry> Window(const Shape &input, const Shape &filter) const {
    return ComputeWindow(
        name(), MakeWindowSpec(settings_.attributes, filter[0], filter[1]),
        input[1], input[2]);
  }

  DepthwiseConv2dSettings settings_;
};

MACE_REGISTER_OP(DepthwiseConv2d, CPU, DepthwiseConv2dOp);

}  // namespace
}  // namespace mace
