// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/conv2d/conv2d.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/epilogue/arithmetic_choice.h"
#include "mace/ops/epilogue/fused_activation.h"
#include "mace/ops/epilogue/op_plans.h"

namespace mace {
namespace {

class Conv2DOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<Conv2DAttributes>();
    MACE_RETURN_IF_ERROR(activation_.Init(context->def(), attributes_, isa()));
    MACE_ASSIGN_OR_RETURN(
        arithmetic_, ChooseArithmetic(*context, kConv2DFilterInput, isa()));
    type_ = float_type();
    strategies_.Init(isa(), context->hints().winograd);
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    const Tensor &filter = *context->input(kConv2DFilterInput);
    const Shape &input = context->input(kConv2DInputInput)->shape;
    const Shape &output = context->output(kConv2DOutputOutput)->shape;
    MACE_ASSIGN_OR_RETURN(const WindowGeometry window,
                          Conv2DWindow(attributes_, input, filter.shape));
    context->AllowStridedInput(kConv2DResidualInput);
    conv::Request request;
    request.shape = ConvShape(input, output, window, attributes_.groups);
    request.arithmetic = arithmetic_;
    request.results = ElementOf(type_);
    ConvOpPlan::Settings settings;
    settings.ports = {kConv2DInputInput, kConv2DFilterInput, kConv2DBiasInput,
                      kConv2DResidualInput};
    settings.geometry = ReportWindow(window, filter.shape);
    settings.macs = output.Elements() * filter.shape.Elements(1, 4);
    settings.activation = &activation_;
    return ConvOpPlan::Make(settings, strategies_, request, context);
  }

  MaceStatus Run(RunContext *context) const override {
    context->PlanAs<ConvOpPlan>().Run(context);
    return MaceStatus();
  }

 private:
  Conv2DAttributes attributes_;
  FusedActivation activation_;
  const gemm::Arithmetic *arithmetic_ = nullptr;
  conv::Strategies strategies_;
  DataType type_ = DataType::kFloat32;  // of activations
};

MACE_REGISTER_OP(Conv2D, CPU, Conv2DOp);

}  // namespace
}  // namespace mace
