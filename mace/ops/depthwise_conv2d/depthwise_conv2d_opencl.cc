// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "mace/ops/depthwise_conv2d/depthwise_conv2d.h"
#include "mace/ops/depthwise_conv2d/depthwise_conv2d_cl.h"
#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {
namespace {

// The largest window that is unrolled, and its largest stride: an item then
// keeps a row of inputs in registers.
constexpr int64_t kMostTaps = 25;
constexpr int64_t kMostStride = 2;

bool Unrolls(const WindowGeometry &window) {
  int64_t taps = 1;
  for (const WindowAxis &axis : window.axis) {
    if (axis.dilation > 1 && axis.kernel > 1) return false;
    if (axis.stride > kMostStride) return false;
    taps *= axis.kernel;
  }
  return taps <= kMostTaps;
}

class DepthwiseConv2dOpencl final : public OpenclOp {
 public:
  MaceStatus Plan(OpenclPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<DepthwiseConv2dAttributes>();
    const Shape &filter = context->input(kDepthwiseConv2dFilterInput)->shape;
    MACE_ASSIGN_OR_RETURN(
        const WindowGeometry window,
        DepthwiseConv2dWindow(attributes,
                              context->input(kDepthwiseConv2dInputInput)->shape,
                              filter));
    const GpuDims out = context->OutputDims();
    const WindowAxis &v = window.axis[0];
    const WindowAxis &h = window.axis[1];
    const bool unrolled = Unrolls(window);
    Launch launch(kDepthwiseConv2dCl,
                  unrolled ? "depthwise_unrolled" : "depthwise");
    launch.Input("input", kDepthwiseConv2dInputInput)
        .Constant("filter", kDepthwiseConv2dFilterInput);
    if (context->input(kDepthwiseConv2dBiasInput) != nullptr) {
      launch.Define("HAS_BIAS").Constant("bias", kDepthwiseConv2dBiasInput);
    }
    if (out.c % 4 == 0) launch.Define("ALIGNED");
    launch.Output("output")
        .ActivationOf(attributes)
        .Ints2(v.pad_before, h.pad_before);
    if (unrolled) {
      // With a stride of 2, neighbours share fewer inputs.
      const int64_t columns = h.stride == 1 ? 4 : 2;
      launch.Define("KERNEL_Y", v.kernel)
          .Define("KERNEL_X", h.kernel)
          .Define("STRIDE_Y", v.stride)
          .Define("STRIDE_X", h.stride)
          .Define("COLUMNS", columns)
          .Items(out.blocks(), (out.w + columns - 1) / columns, out.rows());
    } else {
      launch.Ints(v.kernel, h.kernel, v.stride, h.stride)
          .Ints2(v.dilation, h.dilation)
          .Items(out.blocks(), out.w, out.rows());
    }
    if (filter[3] != 1) launch.Define("EXPAND").Int(filter[3]);
    context->Add(std::move(launch));
    return MaceStatus();
  }
};

MACE_REGISTER_OP(DepthwiseConv2d, GPU, DepthwiseConv2dOpencl);

}  // namespace
}  // namespace mace
