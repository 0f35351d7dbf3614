// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/depthwise_deconv2d/depthwise_deconv2d_schema.h"
#include "mace/ops/epilogue/conv_op_plan.h"
#include "mace/ops/epilogue/filter_constants.h"
#include "mace/ops/epilogue/fused_activation.h"
#include "mace/ops/window/transposed_window.h"

namespace mace {
namespace {

class DepthwiseDeconv2dOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    MACE_RETURN_IF_ERROR(attributes_.Parse(context->def()));
    MACE_RETURN_IF_ERROR(activation_.Init(context->def(), attributes_, isa()));
    strategies_.InitTransposed(isa());
    const Tensor &filter = *context->constant(kDepthwiseDeconv2dFilterInput);
    const Tensor *bias = context->constant(kDepthwiseDeconv2dBiasInput);
    filter_shape_ = filter.shape;
    const std::string wrong = WrongDepthwiseConstants(filter, bias);
    if (!wrong.empty()) return Invalid(wrong);
    for (int i = 0; i < 2; ++i) {
      axes_[i] = MakeTransposedAxis(attributes_, i,
                                    filter_shape_[static_cast<size_t>(i)]);
    }
    return MaceStatus();
  }

  MaceStatus InferShapes(ShapeContext *context) const override {
    const Shape &input = context->input(kDepthwiseDeconv2dInputInput)->shape;
    if (input.rank() != 4 || input[3] != filter_shape_[2]) {
      return Invalid("input has shape ", input.ToString(), " but the filter ",
                     filter_shape_.ToString(), " takes [N, H, W, ",
                     filter_shape_[2], "]");
    }
    MACE_ASSIGN_OR_RETURN(
        const int64_t height,
        TransposedOutput(name(), "height", axes_[0], input[1]));
    MACE_ASSIGN_OR_RETURN(
        const int64_t width,
        TransposedOutput(name(), "width", axes_[1], input[2]));
    return SetOutput(
        context, kDepthwiseDeconv2dOutputOutput,
        {input[0], height, width, filter_shape_[2] * filter_shape_[3]},
        DataType::kFloat32);
  }

  MaceStatus Plan(PlanContext *context) override {
    const Shape &input = context->input(kDepthwiseDeconv2dInputInput)->shape;
    const Shape &output =
        context->output(kDepthwiseDeconv2dOutputOutput)->shape;
    conv::Request request;
    request.shape = TransposedConvShape(input, output, axes_, filter_shape_[2]);
    request.layout = conv::FilterLayout::kTaps;
    ConvOpPlan::Settings settings;
    settings.ports = {kDepthwiseDeconv2dInputInput,
                      kDepthwiseDeconv2dFilterInput,
                      kDepthwiseDeconv2dBiasInput};
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
  DepthwiseDeconv2dAttributes attributes_;
  FusedActivation activation_;
  conv::Strategies strategies_;
  Shape filter_shape_;
  TransposedAxis axes_[2];
};

MACE_REGISTER_OP(DepthwiseDeconv2d, CPU, DepthwiseDeconv2dOp);

}  // namespace
}  // namespace mace
