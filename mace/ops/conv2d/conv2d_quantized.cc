// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/model/quantized_checks.h"
#include "mace/ops/conv2d/conv2d.h"
#include "mace/ops/cpu_op/activation_params.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/epilogue/op_plans.h"
#include "mace/ops/epilogue/quantized_conv.h"

namespace mace {
namespace {

class QuantizedConv2DOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<Conv2DAttributes>();
    const ConvPorts ports = {kConv2DInputInput, kConv2DFilterInput,
                             kConv2DBiasInput};
    return AtOperator(
        context->def(),
        conv_.Init(*context, ports, ActivationParams(attributes_)));
  }

  MaceStatus Plan(PlanContext *context) override {
    const Shape &filter = context->input(kConv2DFilterInput)->shape;
    const Shape &input = context->input(kConv2DInputInput)->shape;
    const Shape &output = context->output(kConv2DOutputOutput)->shape;
    MACE_ASSIGN_OR_RETURN(const WindowGeometry window,
                          Conv2DWindow(attributes_, input, filter));
    ConvOpPlan::Settings settings;
    settings.geometry = ReportWindow(window, filter);
    settings.macs = output.Elements() * filter.Elements(1, 4);
    return conv_.Plan(settings,
                      ConvShape(input, output, window, attributes_.groups),
                      context);
  }

  MaceStatus Run(RunContext *context) const override {
    context->PlanAs<ConvOpPlan>().Run(context);
    return MaceStatus();
  }

 private:
  Conv2DAttributes attributes_;
  QuantizedConv conv_;
};

MACE_REGISTER_QUANTIZED_OP(Conv2D, CPU, QuantizedConv2DOp);

}  // namespace
}  // namespace mace
