// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/deconv2d/deconv2d_schema.h"
#include "mace/ops/epilogue/arithmetic_choice.h"
#include "mace/ops/epilogue/conv_op_plan.h"
#include "mace/ops/epilogue/filter_constants.h"
#include "mace/ops/epilogue/fused_activation.h"
#include "mace/ops/window/transposed_window.h"

namespace mace {
namespace {

class Deconv2DOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    MACE_RETURN_IF_ERROR(attributes_.Parse(context->def()));
    MACE_RETURN_IF_ERROR(activation_.Init(context->def(), attributes_, isa()));
    MACE_ASSIGN_OR_RETURN(
        arithmetic_,
        ChooseFloatArithmetic(*context, kDeconv2DFilterInput, isa()));
    strategies_.InitTransposed(isa());
    const Tensor &filter = *context->constant(kDeconv2DFilterInput);
    const std::string wrong = WrongConvConstants(
        filter, context->constant(kDeconv2DBiasInput), attributes_.groups);
    if (!wrong.empty()) return Invalid(wrong);
    filter_shape_ = filter.shape;
    for (int i = 0; i < 2; ++i) {
      axes_[i] = MakeTransposedAxis(attributes_, i,
                                    filter.shape[static_cast<size_t>(i) + 1]);
    }
    return MaceStatus();
  }

  MaceStatus InferShapes(ShapeContext *context) const override {
    const Shape &input = context->input(kDeconv2DInputInput)->shape;
    if (input.rank() != 4 ||
        input[3] != filter_shape_[3] * attributes_.groups) {
      return Invalid("input has shape ", input.ToString(), " but the filter ",
                     filter_shape_.ToString(), " with ", attributes_.groups,
                     " group(s) takes [N, H, W, ",
                     filter_shape_[3] * attributes_.groups, "]");
    }
    MACE_ASSIGN_OR_RETURN(
        const int64_t height,
        TransposedOutput(name(), "height", axes_[0], input[1]));
    MACE_ASSIGN_OR_RETURN(
        const int64_t width,
        TransposedOutput(name(), "width", axes_[1], input[2]));
    return SetOutput(context, kDeconv2DOutputOutput,
                     {input[0], height, width, filter_shape_[0]},
                     DataType::kFloat32);
  }

  MaceStatus Plan(PlanContext *context) override {
    const Shape &input = context->input(kDeconv2DInputInput)->shape;
    const Shape &output = context->output(kDeconv2DOutputOutput)->shape;
    conv::Request request;
    request.shape =
        TransposedConvShape(input, output, axes_, attributes_.groups);
    request.arithmetic = arithmetic_;
    ConvOpPlan::Settings settings;
    settings.ports = {kDeconv2DInputInput, kDeconv2DFilterInput,
                      kDeconv2DBiasInput};
    settings.geometry = ReportTransposed(axes_[0], axes_[1], filter_shape_);
    settings.macs = output.Elements() == 0
                        ? 0
                        : input.Elements(0, 3) * filter_shape_.Elements();
    settings.activation = &activation_;
    ConvOpPlan::Make(settings, strategies_, request, context);
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    context->PlanAs<ConvOpPlan>().Run(context);
    return MaceStatus();
  }

 private:
  Deconv2DAttributes attributes_;
  FusedActivation activation_;
  const gemm::Arithmetic *arithmetic_ = nullptr;
  conv::Strategies strategies_;
  Shape filter_shape_;
  TransposedAxis axes_[2];
};

MACE_REGISTER_OP(Deconv2D, CPU, Deconv2DOp);

}  // namespace
}  // namespace mace
