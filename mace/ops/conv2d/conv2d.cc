// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "mace/ops/conv2d/conv2d_schema.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/epilogue/arithmetic_choice.h"
#include "mace/ops/epilogue/conv_op_plan.h"
#include "mace/ops/epilogue/filter_constants.h"
#include "mace/ops/epilogue/fused_activation.h"
#include "mace/ops/window/window.h"

namespace mace {
namespace {

class Conv2DOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    MACE_RETURN_IF_ERROR(attributes_.Parse(context->def()));
    MACE_RETURN_IF_ERROR(activation_.Init(context->def(), attributes_, isa()));
    MACE_ASSIGN_OR_RETURN(
        arithmetic_, ChooseArithmetic(*context, kConv2DFilterInput, isa()));
    type_ = float_type();
    strategies_.Init(isa(), context->hints().winograd);
    const std::string wrong = WrongConvConstants(
        *context->constant(kConv2DFilterInput),
        context->constant(kConv2DBiasInput), attributes_.groups);
    return wrong.empty() ? MaceStatus() : Invalid(wrong);
  }

  MaceStatus InferShapes(ShapeContext *context) const override {
    const Shape &input = context->input(kConv2DInputInput)->shape;
    const Shape &filter = context->input(kConv2DFilterInput)->shape;
    if (input.rank() != 4 || input[3] != filter[3] * attributes_.groups) {
      return Invalid("input has shape ", input.ToString(), " but the filter ",
                     filter.ToString(), " with ", attributes_.groups,
                     " group(s) takes [N, H, W, ",
                     filter[3] * attributes_.groups, "]");
    }
    MACE_ASSIGN_OR_RETURN(const WindowGeometry window, Window(input, filter));
    const Shape output{input[0], window.axis[0].output, window.axis[1].output,
                       filter[0]};
    MACE_RETURN_IF_ERROR(
        SetOutput(context, kConv2DOutputOutput, output, DataType::kFloat32));
    const Tensor *residual = context->input(kConv2DResidualInput);
    if (residual != nullptr && residual->shape != output) {
      return Invalid("residual has shape ", residual->shape.ToString(),
                     " but the output ", output.ToString());
    }
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    const Tensor &filter = *context->input(kConv2DFilterInput);
    const Shape &input = context->input(kConv2DInputInput)->shape;
    const Shape &output = context->output(kConv2DOutputOutput)->shape;
    MACE_ASSIGN_OR_RETURN(const WindowGeometry window,
                          Window(input, filter.shape));
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
                         MakeWindowSpec(attributes_, filter[1], filter[2]),
                         input[1], input[2]);
  }

  Conv2DAttributes attributes_;
  FusedActivation activation_;
  const gemm::Arithmetic *arithmetic_ = nullptr;
  conv::Strategies strategies_;
  DataType type_ = DataType::kFloat32;  // of activations
};

MACE_REGISTER_OP(Conv2D, CPU, Conv2DOp);

}  // namespace
}  // namespace mace
