// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/model/quantized_checks.h"
#include "mace/kernels/cpu/conv/quantized_strategy.h"
#include "mace/ops/conv2d/conv2d.h"
#include "mace/ops/cpu_op/activation_params.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/epilogue/conv_op_plan.h"
#include "mace/ops/epilogue/quantized_conv.h"

namespace mace {
namespace {

static_assert(kConv2DInputInput == QuantizedConv::kInput);
static_assert(kConv2DFilterInput == QuantizedConv::kFilter);
static_assert(kConv2DBiasInput == QuantizedConv::kBias);

class QuantizedConv2DOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<Conv2DAttributes>();
    const Shape &filter = context->constant(kConv2DFilterInput)->shape;
    const bool depthwise =
        attributes_.groups > 1 && filter.rank() == 4 && filter[3] == 1;
    return AtOperator(
        context->def(),
        conv_.Init(*context, ActivationParams(attributes_),
                   QuantizedConv::IsInt16(*context) ? conv::MakeInt16Direct()
                   : depthwise ? conv::MakeQuantizedDepthwise(isa())
                               : conv::MakeQuantizedConv(
                                     isa(), context->hints().winograd)));
  }

  MaceStatus Plan(PlanContext *context) override {
    const Shape &filter = context->input(kConv2DFilterInput)->shape;
    const Shape &input = context->input(kConv2DInputInput)->shape;
    const Shape &output = context->output(kConv2DOutputOutput)->shape;
    MACE_ASSIGN_OR_RETURN(const WindowGeometry window,
                          Conv2DWindow(attributes_, input, filter));
    QuantizedConv::Geometry geometry;
    geometry.shape = ConvShape(input, output, window, attributes_.groups);
    geometry.report = ReportWindow(window, filter);
    geometry.macs = output.Elements() * filter.Elements(1, 4);
    return conv_.Plan(geometry, context);
  }

  MaceStatus Run(RunContext *context) const override {
    QuantizedConv::Run(context);
    return MaceStatus();
  }

 private:
  Conv2DAttributes attributes_;
  QuantizedConv conv_;
};

MACE_REGISTER_QUANTIZED_OP(Conv2D, CPU, QuantizedConv2DOp);

}  // namespace
}  // namespace mace
