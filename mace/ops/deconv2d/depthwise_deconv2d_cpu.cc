// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/deconv2d/depthwise_deconv2d_schema.h"
#include "mace/ops/epilogue/fused_activation.h"
#include "mace/ops/epilogue/op_plans.h"
#include "mace/ops/window/transposed_window.h"

namespace mace {
namespace {

class DepthwiseDeconv2dOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<DepthwiseDeconv2dAttributes>();
    MACE_RETURN_IF_ERROR(activation_.Init(context->def(), attributes_, isa()));
    strategies_.InitTransposed(isa());
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    const Shape &input = context->input(kDepthwiseDeconv2dInputInput)->shape;
    const Shape &output =
        context->output(kDepthwiseDeconv2dOutputOutput)->shape;
    const Shape &filter = context->input(kDepthwiseDeconv2dFilterInput)->shape;
    const TransposedAxis axes[2] = {
        MakeTransposedAxis(attributes_, 0, filter[0]),
        MakeTransposedAxis(attributes_, 1, filter[1])};
    conv::Request request;
    request.shape = TransposedConvShape(input, output, axes, filter[2]);
    request.layout = conv::FilterLayout::kTaps;
    ConvOpPlan::Settings settings;
    settings.ports = {kDepthwiseDeconv2dInputInput,
                      kDepthwiseDeconv2dFilterInput,
                      kDepthwiseDeconv2dBiasInput};
    settings.geometry = ReportTransposed(axes[0], axes[1], filter);
    settings.macs =
        output.Elements() == 0 ? 0 : input.Elements(0, 3) * filter.Elements();
    settings.activation = &activation_;
    return ConvOpPlan::Make(settings, strategies_, request, context);
  }

  MaceStatus Run(RunContext *context) const override {
    context->PlanAs<ConvOpPlan>().Run(context);
    return MaceStatus();
  }

 private:
  DepthwiseDeconv2dAttributes attributes_;
  FusedActivation activation_;
  conv::Strategies strategies_;
};

MACE_REGISTER_OP(DepthwiseDeconv2d, CPU, DepthwiseDeconv2dOp);

}  // namespace
}  // namespace mace
