// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/depthwise_conv2d/depthwise_conv2d_schema.h"
#include "mace/ops/epilogue/arithmetic_choice.h"
#include "mace/ops/epilogue/conv_op_plan.h"
#include "mace/ops/epilogue/filter_constants.h"
#include "mace/ops/epilogue/fused_activation.h"
#include "mace/ops/window/window.h"

namespace mace {
namespace {

class DepthwiseConv2dOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    MACE_RETURN_IF_ERROR(attributes_.Parse(context->def()));
    MACE_RETURN_IF_ERROR(activation_.Init(context->def(), attributes_, isa()));
    strategies_.Init(isa(), context->hints().winograd);
    type_ = float_type();
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
    return SetOutput(context, kDepthwiseConv2dOutputOutput,
                     {input[0], window.axis[0].output, window.axis[1].output,
                      filter[2] * filter[3]},
                     DataType::kFloat32);
  }

  MaceStatus Plan(PlanContext *context) override {
    const Shape &input = context->input(kDepthwiseConv2dInputInput)->shape;
    const Shape &filter = context->input(kDepthwiseConv2dFilterInput)->shape;
    const Shape &output = context->output(kDepthwiseConv2dOutputOutput)->shape;
    MACE_ASSIGN_OR_RETURN(const WindowGeometry window, Window(input, filter));
    conv::Request request;
    request.shape = ConvShape(input, output, window, filter[2]);
    request.layout = conv::FilterLayout::kTaps;
    request.results = ElementOf(type_);
    ConvOpPlan::Settings settings;
    settings.ports = {kDepthwiseConv2dInputInput, kDepthwiseConv2dFilterInput,
                      kDepthwiseConv2dBiasInput};
    settings.geometry = ReportWindow(window, filter);
    settings.macs = output.Elements() * filter[0] * filter[1];
    settings.activation = &activation_;
    ConvOpPlan::Make(settings, strategies_, request, context);
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    context->PlanAs<ConvOpPlan>().Run(context);
    return MaceStatus();
  }

 private:
  Result<WindowGeometry> Window(const Shape &input, const Shape &filter) const {
    return ComputeWindow(name(),
                         MakeWindowSpec(attributes_, filter[0], filter[1]),
                         input[1], input[2]);
  }

  DepthwiseConv2dAttributes attributes_;
  FusedActivation activation_;
  conv::Strategies strategies_;
  DataType type_ = DataType::kFloat32;  // of activations
};

MACE_REGISTER_OP(DepthwiseConv2d, CPU, DepthwiseConv2dOp);

}  // namespace
}  // namespace mace
