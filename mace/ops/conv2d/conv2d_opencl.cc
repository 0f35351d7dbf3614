// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/conv_mma_cl.h"
#include "mace/ops/conv2d/conv2d.h"
#include "mace/ops/conv2d/conv2d_cl.h"
#include "mace/ops/opencl_op/mma_conv.h"
#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {
namespace {

// Neighbours in a row that one work item computes.
constexpr int64_t kPixels = 4;

struct Conv {
  const Conv2DAttributes &attributes;
  WindowGeometry window;
  int64_t in_group;  // channels
  int64_t out_group;
};

void AddTensors(const OpenclPlanContext &context, Launch *launch) {
  if (context.input(kConv2DBiasInput) != nullptr) {
    launch->Define("HAS_BIAS").Constant("bias", kConv2DBiasInput);
  }
  launch->Residual(context, kConv2DResidualInput).Output("output");
}

void AddWindow(const WindowGeometry &window, Launch *launch) {
  const WindowAxis &v = window.axis[0];
  const WindowAxis &h = window.axis[1];
  launch->Ints(v.stride, h.stride, v.dilation, h.dilation)
      .Ints2(v.pad_before, h.pad_before);
}

Launch PlanMma(const Conv &conv, const OpenclPlanContext &context) {
  const WindowAxis &v = conv.window.axis[0];
  const WindowAxis &h = conv.window.axis[1];
  const GpuDims out = context.OutputDims();
  const int64_t chunks = (conv.in_group + 31) / 32;
  Launch launch(kConvMmaCl, "conv_mma");
  launch.Define("TAIL_8", conv.in_group % 8 == 0 ? 0 : 1);
  if (IsPointwise(conv.window)) launch.Define("POINTWISE");
  launch.Input("input", kConv2DInputInput)
      .Constant("filter", kConv2DFilterInput, kMmaFilter);
  AddTensors(context, &launch);
  launch.ActivationOf(conv.attributes)
      .Ints(v.kernel, h.kernel, chunks, out.pixels());
  AddWindow(conv.window, &launch);
  DivideMma(context.gpu(), out.c, out.pixels(), v.kernel * h.kernel * chunks,
            false, &launch);
  return launch;
}

Launch PlanDirect(const Conv &conv, const OpenclPlanContext &context) {
  const GpuDims out = context.OutputDims();
  const bool whole_blocks = conv.attributes.groups == 1 ||
                            (conv.in_group % 4 == 0 && conv.out_group % 4 == 0);
  Launch launch(kConv2dCl, whole_blocks ? "conv2d" : "conv2d_groups");
  launch.Input("input", kConv2DInputInput)
      .Constant("filter", kConv2DFilterInput);
  AddTensors(context, &launch);
  launch.ActivationOf(conv.attributes)
      .Ints(conv.window.axis[0].kernel, conv.window.axis[1].kernel,
            conv.in_group, conv.out_group);
  AddWindow(conv.window, &launch);
  if (whole_blocks) {
    launch.Define("PIXELS", kPixels)
        .Define("TAIL", conv.in_group % 4)
        .Items(out.blocks(), (out.w + kPixels - 1) / kPixels, out.rows());
  } else {
    launch.Items(out.blocks(), out.w, out.rows());
  }
  return launch;
}

class Conv2DOpencl final : public OpenclOp {
 public:
  MaceStatus Plan(OpenclPlanContext *context) const override {
    const Tensor &filter = *context->input(kConv2DFilterInput);
    const auto &attributes = context->AttributesAs<Conv2DAttributes>();
    Conv conv = {
        attributes, {}, filter.shape[3], filter.shape[0] / attributes.groups};
    MACE_ASSIGN_OR_RETURN(
        conv.window,
        Conv2DWindow(attributes, context->input(kConv2DInputInput)->shape,
                     filter.shape));
    const GpuTraits &gpu = context->gpu();
    const bool mma = gpu.ptx_mma && gpu.half_storage &&
                     attributes.groups == 1 &&
                     filter.data_type != DataType::kInt8;
    context->Add(mma ? PlanMma(conv, *context) : PlanDirect(conv, *context));
    return MaceStatus();
  }
};

MACE_REGISTER_OP(Conv2D, GPU, Conv2DOpencl);

}  // namespace
}  // namespace mace
