// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/conv2d/depthwise_conv2d.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/epilogue/arithmetic_choice.h"
#include "mace/ops/epilogue/fused_activation.h"
#include "mace/ops/epilogue/op_plans.h"

namespace mace {
namespace {

class DepthwiseConv2dOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<DepthwiseConv2dAttributes>();
    MACE_RETURN_IF_ERROR(activation_.Init(context->def(), attributes_, isa()));
    strategies_.Init(isa(), context->hints().winograd);
    type_ = float_type();
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    const Shape &input = context->input(kDepthwiseConv2dInputInput)->shape;
    const Shape &filter = context->input(kDepthwiseConv2dFilterInput)->shape;
    const Shape &output = context->output(kDepthwiseConv2dOutputOutput)->shape;
    MACE_ASSIGN_OR_RETURN(const WindowGeometry window,
                          DepthwiseConv2dWindow(attributes_, input, filter));
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
    return ConvOpPlan::Make(settings, strategies_, request, context);
  }

  MaceStatus Run(RunContext *context) const override {
    context->PlanAs<ConvOpPlan>().Run(context);
    return MaceStatus();
  }

 private:
  DepthwiseConv2dAttributes attributes_;
  FusedActivation activation_;
  conv::Strategies strategies_;
  DataType type_ = DataType::kFloat32;  // of activations
};

MACE_REGISTER_OP(DepthwiseConv2d, CPU, DepthwiseConv2dOp);

}  // namespace
}  // namespace mace
