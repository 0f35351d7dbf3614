// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/conv2d/conv2d.h"
#include "mace/ops/conv2d/conv2d_cl.h"
#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {
namespace {

// Neighbours in a row that one work item computes.
constexpr int64_t kPixels = 4;

class Conv2DOpencl final : public OpenclOp {
 public:
  MaceStatus Plan(OpenclPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<Conv2DAttributes>();
    const Tensor &filter = *context->input(kConv2DFilterInput);
    MACE_ASSIGN_OR_RETURN(
        const WindowGeometry window,
        Conv2DWindow(attributes, context->input(kConv2DInputInput)->shape,
                     filter.shape));
    const GpuDims out = context->OutputDims();
    const int64_t in_group = filter.shape[3];
    const int64_t out_group = filter.shape[0] / attributes.groups;
    const bool whole_blocks =
        attributes.groups == 1 || (in_group % 4 == 0 && out_group % 4 == 0);
    Launch launch(kConv2dCl, whole_blocks ? "conv2d" : "conv2d_groups");
    launch.Input("input", kConv2DInputInput)
        .Constant("filter", kConv2DFilterInput);
    if (context->input(kConv2DBiasInput) != nullptr) {
      launch.Define("HAS_BIAS").Constant("bias", kConv2DBiasInput);
    }
    if (context->input(kConv2DResidualInput) != nullptr) {
      launch.Define("HAS_RESIDUAL").Input("residual", kConv2DResidualInput);
    }
    const WindowAxis &v = window.axis[0];
    const WindowAxis &h = window.axis[1];
    launch.Output("output")
        .ActivationOf(attributes)
        .Ints(v.kernel, h.kernel, in_group, out_group)
        .Ints(v.stride, h.stride, v.dilation, h.dilation)
        .Ints2(v.pad_before, h.pad_before);
    if (whole_blocks) {
      launch.Define("PIXELS", kPixels)
          .Define("TAIL", in_group % 4)
          .Items(out.blocks(), (out.w + kPixels - 1) / kPixels, out.rows());
    } else {
      launch.Items(out.blocks(), out.w, out.rows());
    }
    context->Add(std::move(launch));
    return MaceStatus();
  }
};

MACE_REGISTER_OP(Conv2D, GPU, Conv2DOpencl);

}  // namespace
}  // namespace mace
