// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/deconv2d/deconv2d_schema.h"
#include "mace/ops/epilogue/arithmetic_choice.h"
#include "mace/ops/epilogue/fused_activation.h"
#include "mace/ops/epilogue/op_plans.h"
#include "mace/ops/window/transposed_window.h"

namespace mace {
namespace {

class Deconv2DOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<Deconv2DAttributes>();
    MACE_RETURN_IF_ERROR(activation_.Init(context->def(), attributes_, isa()));
    MACE_ASSIGN_OR_RETURN(
        arithmetic_,
        ChooseFloatArithmetic(*context, kDeconv2DFilterInput, isa()));
    strategies_.InitTransposed(isa());
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    const Shape &input = context->input(kDeconv2DInputInput)->shape;
    const Shape &output = context->output(kDeconv2DOutputOutput)->shape;
    const Shape &filter = context->input(kDeconv2DFilterInput)->shape;
    const TransposedAxis axes[2] = {
        MakeTransposedAxis(attributes_, 0, filter[1]),
        MakeTransposedAxis(attributes_, 1, filter[2])};
    conv::Request request;
    request.shape =
        TransposedConvShape(input, output, axes, attributes_.groups);
    request.arithmetic = arithmetic_;
    ConvOpPlan::Settings settings;
    settings.ports = {kDeconv2DInputInput, kDeconv2DFilterInput,
                      kDeconv2DBiasInput};
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
  Deconv2DAttributes attributes_;
  FusedActivation activation_;
  const gemm::Arithmetic *arithmetic_ = nullptr;
  conv::Strategies strategies_;
};

MACE_REGISTER_OP(Deconv2D, CPU, Deconv2DOp);

}  // namespace
}  // namespace mace
