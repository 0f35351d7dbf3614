// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "mace/kernels/cpu/dwconv/dwconv.h"
#include "mace/kernels/cpu/dwconv/ranges.h"
#include "mace/kernels/cpu/half_arithmetic.h"
#include "mace/ops/cpu_op/reshaped_op.h"
#include "mace/ops/cpu_op/row_bands.h"
#include "mace/ops/depthwise_conv2d/depthwise_conv2d_schema.h"
#include "mace/ops/epilogue/filter_constants.h"
#include "mace/ops/epilogue/fused_activation.h"
#include "mace/ops/window/window.h"

namespace mace {
namespace {

class DepthwiseConv2dOp final : public ReshapedOp, private RowBands {
 public:
  MaceStatus InitOp(InitContext *context) override {
    MACE_RETURN_IF_ERROR(attributes_.Parse(context->def()));
    MACE_RETURN_IF_ERROR(activation_.Init(context->def(), attributes_, isa()));
    kernels_ = dwconv::KernelsFor(isa());
    const DeploymentHints &hints = context->hints();
    const dwconv::Kernels *half = HalfTablesFor(isa(), hints.precision).dwconv;
    if (half != nullptr) {
      kernels_ = half;
      type_ = StorageType(hints.precision);
    }
    const Tensor &filter = *context->constant(kDepthwiseConv2dFilterInput);
    const Tensor *bias = context->constant(kDepthwiseConv2dBiasInput);
    const std::string wrong = WrongDepthwiseConstants(filter, bias);
    return wrong.empty() ? MaceStatus() : Invalid(wrong);
  }

  MaceStatus Reshape(ReshapeContext *context) override {
    const Shape &input = context->input(kDepthwiseConv2dInputInput)->shape;
    const Tensor &filter = *context->input(kDepthwiseConv2dFilterInput);
    if (input.rank() != 4 || input[3] != filter.shape[2]) {
      return Invalid("input has shape ", input.ToString(), " but the filter ",
                     filter.shape.ToString(), " takes [N, H, W, ",
                     filter.shape[2], "]");
    }
    MACE_ASSIGN_OR_RETURN(
        window_, ComputeWindow(name(),
                               MakeWindowSpec(attributes_, filter.shape[0],
                                              filter.shape[1]),
                               input[1], input[2]));
    const Shape output{input[0], window_.output[0], window_.output[1],
                       filter.shape[2] * filter.shape[3]};
    MACE_RETURN_IF_ERROR(
        SetOutput(context, kDepthwiseConv2dOutputOutput, output, type_));
    context->AllowStridedOutput(kDepthwiseConv2dOutputOutput);
    kernel_shape_ = filter.shape;
    macs_ = output.Elements() * filter.shape[0] * filter.shape[1];
    if (macs_ == 0) return MaceStatus();
    FillArgs(input, output, filter);
    ranges_ = dwconv::SplitRanges(args_.shape,
                                  context->thread_pool()->thread_count());
    scratch_bytes_ = kernels_->scratch_bytes(args_.shape, args_.type);
    scratch_bytes_ = (scratch_bytes_ + 63) & ~size_t{63};
    context->RequestScratch(
        scratch_bytes_ *
        static_cast<size_t>(context->thread_pool()->thread_count()));
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) override {
    if (macs_ == 0) return MaceStatus();
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
            kernels_->run(args, range, own);
            Activate(args, range);
          }
        });
    return MaceStatus();
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
    kernels_->run(args, range, run.scratch);
    Activate(args, range);
  }

  HalfUse half_use() const override {
    return type_ == DataType::kFloat32 ? HalfUse::kNone : HalfUse::kComputes;
  }
  int64_t Macs() const override { return macs_; }
  ConvPoolArgs Geometry() const override {
    return ReportWindow(
        MakeWindowSpec(attributes_, kernel_shape_[0], kernel_shape_[1]),
        window_, kernel_shape_);
  }
  std::string KernelName() const override {
    if (macs_ == 0) return "none";
    if (type_ == DataType::kFloat32) return "dwconv";
    return type_ == DataType::kFloat16 ? "dwconv in fp16" : "dwconv in bf16";
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
    if (type_ != DataType::kFloat32) {
      activation_.Apply(static_cast<uint16_t *>(args.output) + at, type_, rows,
                        columns, args.output_stride);
    } else {
      activation_.Apply(static_cast<float *>(args.output) + at, rows, columns,
                        args.output_stride);
    }
  }

  void FillArgs(const Shape &input, const Shape &output, const Tensor &filter) {
    auto index = [](int64_t x) { return static_cast<ptrdiff_t>(x); };
    dwconv::Shape &s = args_.shape;
    s.batch = index(input[0]);
    s.in_h = index(input[1]);
    s.in_w = index(input[2]);
    s.in_c = index(input[3]);
    s.multiplier = index(filter.shape[3]);
    s.kernel_h = index(filter.shape[0]);
    s.kernel_w = index(filter.shape[1]);
    s.stride_h = index(attributes_.strides[0]);
    s.stride_w = index(attributes_.strides[1]);
    s.dilation_h = index(attributes_.dilations[0]);
    s.dilation_w = index(attributes_.dilations[1]);
    s.pad_top = index(window_.pad_before[0]);
    s.pad_left = index(window_.pad_before[1]);
    s.out_h = index(output[1]);
    s.out_w = index(output[2]);
    args_.type = DepthwiseWeightType(filter.data_type);
    args_.clamp = activation_.clamp();
    args_.low = activation_.low();
    args_.high = activation_.high();
  }

  DepthwiseConv2dAttributes attributes_;
  FusedActivation activation_;
  const dwconv::Kernels *kernels_ = nullptr;
  WindowGeometry window_;
  Shape kernel_shape_;
  dwconv::Args args_;                   // all but the pointers
  DataType type_ = DataType::kFloat32;  // of activations
  size_t scratch_bytes_ = 0;            // per thread
  dwconv::Ranges ranges_;
  int64_t macs_ = 0;
};

MACE_REGISTER_OP(DepthwiseConv2d, CPU, DepthwiseConv2dOp);

}  // namespace
}  // namespace mace
