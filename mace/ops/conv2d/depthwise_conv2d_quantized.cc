// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/model/quantized_checks.h"
#include "mace/ops/conv2d/depthwise_conv2d.h"
#include "mace/ops/cpu_op/activation_params.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/epilogue/op_plans.h"
#include "mace/ops/epilogue/quantized_conv.h"

namespace mace {
namespace {

class QuantizedDepthwiseConv2dOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<DepthwiseConv2dAttributes>();
    const ConvPorts ports = {kDepthwiseConv2dInputInput,
                             kDepthwiseConv2dFilterInput,
                             kDepthwiseConv2dBiasInput};
    return AtOperator(context->def(),
                      conv_.Init(*context, ports, ActivationParams(attributes_),
                                 FilterOrder::kTapsFirst));
  }

  MaceStatus Plan(PlanContext *context) override {
    const Shape &input = context->input(kDepthwiseConv2dInputInput)->shape;
    const Shape &filter = context->input(kDepthwiseConv2dFilterInput)->shape;
    const Shape &output = context->output(kDepthwiseConv2dOutputOutput)->shape;
    if (filter[3] != 1) {
      return NotSupported("quantized, it has one output for each channel, not ",
                          filter[3],
                          "; convert the model again, which makes a Conv2D of "
                          "it with as many groups as channels");
    }
    MACE_ASSIGN_OR_RETURN(const WindowGeometry window,
                          DepthwiseConv2dWindow(attributes_, input, filter));
    ConvOpPlan::Settings settings;
    settings.geometry = ReportWindow(window, filter);
    settings.macs = output.Elements() * filter[0] * filter[1];
    return conv_.Plan(settings, ConvShape(input, output, window, filter[2]),
                      context);
  }

  MaceStatus Run(RunContext *context) const override {
    context->PlanAs<ConvOpPlan>().Run(context);
    return MaceStatus();
  }

 private:
  DepthwiseConv2dAttributes attributes_;
  QuantizedConv conv_;
};

MACE_REGISTER_QUANTIZED_OP(DepthwiseConv2d, CPU, QuantizedDepthwiseConv2dOp);

}  // namespace
}  // namespace mace
