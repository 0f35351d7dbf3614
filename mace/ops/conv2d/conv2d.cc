// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>

#include "mace/core/row_bands.h"
#include "mace/kernels/cpu/gemm/conv_gemm.h"
#include "mace/ops/conv2d/conv2d_schema.h"
#include "mace/ops/conv2d/narrow_groups.h"
#include "mace/ops/conv2d/winograd_conv.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/epilogue/conv_run.h"
#include "mace/ops/epilogue/filter_constants.h"
#include "mace/ops/epilogue/fused_activation.h"
#include "mace/ops/window/window.h"

namespace mace {
namespace {

class Conv2DOp final : public CpuOp, private RowBands {
 public:
  MaceStatus InitOp(InitContext *context) override {
    MACE_RETURN_IF_ERROR(attributes_.Parse(context->def()));
    MACE_RETURN_IF_ERROR(activation_.Init(context->def(), attributes_, isa()));
    MACE_ASSIGN_OR_RETURN(kernels_,
                          KernelsOf(*context, kConv2DFilterInput, isa()));
    half_kernels_ = HalfKernelsOf(*context, kConv2DFilterInput, isa());
    fp16_kernels_ = Fp16KernelsOf(*context, kConv2DFilterInput, isa());
    if (fp16_kernels_ != nullptr || KeepsBf16(*context, half_kernels_, isa())) {
      type_ = context->hints().half_type();
    }
    // The direct product is faster in bf16 than any tile in float.
    winograd_.Init(isa(),
                   half_kernels_ != nullptr ? 0 : context->hints().winograd,
                   fp16_kernels_ != nullptr);
    narrow_.Init(isa(), kernels_, fp16_kernels_ != nullptr);
    const std::string wrong = WrongConvConstants(
        *context->constant(kConv2DFilterInput),
        context->constant(kConv2DBiasInput), attributes_.groups);
    return wrong.empty() ? MaceStatus() : Invalid(wrong);
  }

  MaceStatus Reshape(ReshapeContext *context) override {
    const Shape &input = context->input(kConv2DInputInput)->shape;
    const Tensor &filter = *context->input(kConv2DFilterInput);
    if (input.rank() != 4 || input[3] != filter.shape[3] * attributes_.groups) {
      return Invalid("input has shape ", input.ToString(), " but the filter ",
                     filter.shape.ToString(), " with ", attributes_.groups,
                     " group(s) takes [N, H, W, ",
                     filter.shape[3] * attributes_.groups, "]");
    }
    MACE_ASSIGN_OR_RETURN(
        window_, ComputeWindow(name(),
                               MakeWindowSpec(attributes_, filter.shape[1],
                                              filter.shape[2]),
                               input[1], input[2]));
    const Shape output{input[0], window_.output[0], window_.output[1],
                       filter.shape[0]};
    MACE_RETURN_IF_ERROR(
        SetOutput(context, kConv2DOutputOutput, output, type_));
    const Tensor *residual = context->input(kConv2DResidualInput);
    if (residual != nullptr && residual->shape != output) {
      return Invalid("residual has shape ", residual->shape.ToString(),
                     " but the output ", output.ToString());
    }
    context->AllowStridedOutput(kConv2DOutputOutput);
    context->AllowStridedInput(kConv2DResidualInput);
    kernel_shape_ = filter.shape;
    empty_ = output.Elements() == 0;
    macs_ = 0;
    if (empty_) return MaceStatus();
    MakePlan(input, output, filter, residual != nullptr, context);
    const int threads = context->thread_pool()->thread_count();
    const bool winograd = winograd_.tile() != 0;
    context->RequestScratch(winograd ? winograd_.ScratchBytes(threads)
                            : narrow_.chosen()
                                ? narrow_.ScratchBytes(threads)
                                : ConvScratchBytes(plan_, threads));
    if (residual != nullptr && (winograd || plan_.single_pass)) {
      context->AllowInPlace(kConv2DOutputOutput, kConv2DResidualInput);
    }
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) override {
    if (empty_) return MaceStatus();
    const gemm::ConvArgs args = ArgsFor(*context);
    if (winograd_.tile() != 0) {
      winograd_.Run(args, activation_, context->thread_pool(),
                    context->scratch());
    } else if (narrow_.chosen()) {
      narrow_.Run(args, activation_, context->thread_pool(),
                  context->scratch());
    } else {
      RunConv(plan_, args, activation_, context->thread_pool(),
              context->scratch());
    }
    return MaceStatus();
  }

  // A single row would be computed by other kernels.
  const RowBands *row_bands() const override {
    const bool direct = winograd_.tile() == 0 && !narrow_.chosen();
    return !empty_ && direct && shape_.out_w > 1 ? this : nullptr;
  }
  RowRange InputRows(const RowRange &output) const override {
    return Rows().InputRows(output);
  }
  size_t BandScratchBytes(int64_t rows) const override {
    size_t bytes = 0;
    for (int64_t count = 1; count <= rows; ++count) {
      // Whole, and with a border.
      const int64_t reach = (count - 1) * shape_.stride_h +
                            WindowExtent(shape_.kernel_h, shape_.dilation_h);
      for (const int64_t image_rows : {reach, int64_t{1}}) {
        const gemm::ConvPlan plan = PlanBand({0, image_rows}, {0, count}, 0);
        bytes = std::max(bytes, ConvScratchBytes(plan, 1));
      }
    }
    return bytes;
  }
  void RunBand(const RunContext &context, const BandRun &run) const override {
    const RowWindow window = Rows();
    const RowRange rows = window.InputRows(run.rows);
    const gemm::ConvPlan plan =
        PlanBand(rows, run.rows, rows.begin - window.Top(run.rows.begin));
    gemm::ConvArgs args = ArgsFor(context);
    if (args.input_half != nullptr) {
      args.input_half = static_cast<const uint16_t *>(run.input);
    } else {
      args.input = static_cast<const float *>(run.input);
    }
    if (type_ != DataType::kFloat32) {
      args.output_half = static_cast<uint16_t *>(run.output);
    } else {
      args.output = static_cast<float *>(run.output);
    }
    args.output_stride = static_cast<size_t>(run.output_stride);
    const auto pixel = static_cast<size_t>(
        (run.image * shape_.out_h + run.rows.begin) * shape_.out_w);
    const size_t residual = pixel * args.epilogue.residual_stride;
    if (args.residual_half != nullptr) args.residual_half += residual;
    if (args.epilogue.residual != nullptr) args.epilogue.residual += residual;
    RunConvAlone(plan, args, activation_, run.scratch);
  }

  HalfUse half_use() const override {
    return type_ != DataType::kFloat32 ? HalfUse::kComputes : HalfUse::kNone;
  }
  // Narrows it where it copies the image anyway.
  bool TakesFloat(size_t input) const override {
    return type_ == DataType::kBfloat16 && input == kConv2DInputInput;
  }
  int64_t Macs() const override { return macs_; }
  ConvPoolArgs Geometry() const override {
    return ReportWindow(
        MakeWindowSpec(attributes_, kernel_shape_[1], kernel_shape_[2]),
        window_, kernel_shape_);
  }
  std::string KernelName() const override {
    if (empty_) return "none";
    if (narrow_.chosen()) {
      return fp16_kernels_ != nullptr ? "narrow groups in fp16"
                                      : "narrow groups";
    }
    switch (winograd_.tile()) {
      case 2:
        return fp16_kernels_ != nullptr ? "winograd2x2 in fp16" : "winograd2x2";
      case 4:
        return fp16_kernels_ != nullptr ? "winograd4x4 in fp16" : "winograd4x4";
      default:
        return ConvKernelName(plan_);
    }
  }

 private:
  gemm::ConvArgs ArgsFor(const RunContext &context) const {
    ConvTensors tensors;
    tensors.input = context.input(kConv2DInputInput);
    tensors.weights = context.input(kConv2DFilterInput);
    tensors.bias = context.input(kConv2DBiasInput);
    tensors.residual = context.input(kConv2DResidualInput);
    tensors.output = context.output(kConv2DOutputOutput);
    return MakeConvArgs(tensors, type_ != DataType::kFloat32);
  }

  RowWindow Rows() const {
    return {shape_.kernel_h, shape_.stride_h, shape_.dilation_h, shape_.pad_top,
            shape_.in_h};
  }

  gemm::ConvPlan Plan(const gemm::ConvShape &shape, int threads) const {
    return gemm::PlanConv(shape, w_type_, kernels_, half_kernels_, threads,
                          fp16_kernels_, stored_);
  }
  // For rows of the input that begin `pad` rows after the first window does.
  gemm::ConvPlan PlanBand(const RowRange &input,
                          const RowRange &output,
                          int64_t pad) const {
    gemm::ConvShape band = shape_;
    band.batch = 1;
    band.in_h = static_cast<ptrdiff_t>(input.count());
    band.out_h = static_cast<ptrdiff_t>(output.count());
    band.pad_top = static_cast<ptrdiff_t>(pad);
    return Plan(band, 1);
  }

  void MakePlan(const Shape &input,
                const Shape &output,
                const Tensor &filter,
                bool has_residual,
                ReshapeContext *context) {
    gemm::ConvShape &s = shape_;
    auto index = [](int64_t x) { return static_cast<ptrdiff_t>(x); };
    s.batch = index(input[0]);
    s.in_h = index(input[1]);
    s.in_w = index(input[2]);
    s.in_c = index(input[3]);
    s.kernel_h = index(filter.shape[1]);
    s.kernel_w = index(filter.shape[2]);
    s.stride_h = index(attributes_.strides[0]);
    s.stride_w = index(attributes_.strides[1]);
    s.dilation_h = index(attributes_.dilations[0]);
    s.dilation_w = index(attributes_.dilations[1]);
    s.pad_top = index(window_.pad_before[0]);
    s.pad_left = index(window_.pad_before[1]);
    s.out_h = index(output[1]);
    s.out_w = index(output[2]);
    s.out_c = index(output[3]);
    s.groups = index(attributes_.groups);
    w_type_ = PackedWeightType(filter);
    stored_ = StoredAs(context->input(kConv2DInputInput)->data_type, type_);
    plan_ = Plan(s, context->thread_pool()->thread_count());
    macs_ = output.Elements() * filter.shape.Elements(1, 4);
    if (has_residual) {
      narrow_.Decline();
    } else {
      narrow_.Reshape(s, filter, activation_, context);
    }
    winograd_.Reshape(s, filter, context);
  }

  Conv2DAttributes attributes_;
  FusedActivation activation_;
  const gemm::Kernels *kernels_ = nullptr;
  const gemm::HalfKernels *half_kernels_ = nullptr;
  const gemm::Fp16Kernels *fp16_kernels_ = nullptr;
  DataType type_ = DataType::kFloat32;  // of activations
  WindowGeometry window_;
  Shape kernel_shape_;
  gemm::ConvShape shape_;
  gemm::WeightType w_type_ = gemm::WeightType::kF32;
  gemm::Stored stored_ = gemm::Stored::kFloat;
  gemm::ConvPlan plan_;
  WinogradConv winograd_;  // of one group
  NarrowGroupsConv narrow_;
  bool empty_ = false;
  int64_t macs_ = 0;
};

MACE_REGISTER_OP(Conv2D, CPU, Conv2DOp);

}  // namespace
}  // namespace mace
