// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "mace/ops/deconv2d/depthwise_deconv2d_cl.h"
#include "mace/ops/deconv2d/depthwise_deconv2d_schema.h"
#include "mace/ops/opencl_op/opencl_op.h"
#include "mace/ops/window/transposed_window.h"

namespace mace {
namespace {

class DepthwiseDeconv2dOpencl final : public OpenclOp {
 public:
  MaceStatus Plan(OpenclPlanContext *context) const override {
    const auto &attributes =
        context->AttributesAs<DepthwiseDeconv2dAttributes>();
    const Shape &filter = context->input(kDepthwiseDeconv2dFilterInput)->shape;
    const TransposedAxis v = MakeTransposedAxis(attributes, 0, filter[0]);
    const TransposedAxis h = MakeTransposedAxis(attributes, 1, filter[1]);
    const TransposedStep down = TransposedStepOf(v);
    const TransposedStep across = TransposedStepOf(h);
    const GpuDims out = context->OutputDims();
    Launch launch(kDepthwiseDeconv2dCl, "depthwise_deconv2d");
    launch.Input("input", kDepthwiseDeconv2dInputInput)
        .Constant("filter", kDepthwiseDeconv2dFilterInput);
    if (context->input(kDepthwiseDeconv2dBiasInput) != nullptr) {
      launch.Define("HAS_BIAS").Constant("bias", kDepthwiseDeconv2dBiasInput);
    }
    if (out.c % 4 == 0) launch.Define("ALIGNED");
    launch.Output("output")
        .ActivationOf(attributes)
        .Ints(v.kernel, v.stride, v.dilation, v.pad_before)
        .Ints(h.kernel, h.stride, h.dilation, h.pad_before)
        .Ints(down.kernel, down.input, across.kernel, across.input);
    if (filter[3] != 1) launch.Define("EXPAND").Int(filter[3]);
    launch.Items(out.blocks(), out.w, out.rows());
    context->Add(std::move(launch));
    return MaceStatus();
  }

  OpReport Report(const OpenclPlanContext &context) const override {
    const auto &attributes =
        context.AttributesAs<DepthwiseDeconv2dAttributes>();
    const Shape &filter = context.input(kDepthwiseDeconv2dFilterInput)->shape;
    const Shape &input = context.input(kDepthwiseDeconv2dInputInput)->shape;
    return {
        input.Elements(0, 3) * filter.Elements(),
        ReportTransposed(MakeTransposedAxis(attributes, 0, filter[0]),
                         MakeTransposedAxis(attributes, 1, filter[1]), filter)};
  }
};

MACE_REGISTER_OP(DepthwiseDeconv2d, GPU, DepthwiseDeconv2dOpencl);

}  // namespace
}  // namespace mace
