// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A depthwise convolution and the 1x1 convolution of its output, by matrix
// units: each work group computes the depthwise convolution of its pixels,
// which costs little compared with the products, and does not store it.

#include <memory>
#include <utility>
#include <vector>

#include "mace/kernels/opencl/conv_mma_cl.h"
#include "mace/ops/conv2d/conv2d.h"
#include "mace/ops/conv2d/depthwise_conv2d.h"
#include "mace/ops/opencl_op/mma_conv.h"
#include "mace/ops/opencl_op/opencl_op.h"
#include "mace/ops/opencl_op/stored_elements.h"

namespace mace {
namespace {

// Larger windows cost more than the launch that is saved.
constexpr int64_t kMaxTaps = 25;

class DepthwisePointwise final : public OpenclFusion {
 public:
  MaceStatus Plan(const std::vector<const OpenclPlanContext *> &operators,
                  OpenclPlanContext *second) const override {
    const OpenclPlanContext &first = *operators[0];
    const auto &depthwise = first.AttributesAs<DepthwiseConv2dAttributes>();
    const auto &pointwise = second->AttributesAs<Conv2DAttributes>();
    const Tensor &dw_filter = *first.input(kDepthwiseConv2dFilterInput);
    const Tensor &filter = *second->input(kConv2DFilterInput);
    const GpuTraits &gpu = second->gpu();
    const int64_t channels = dw_filter.shape[2];
    if (!gpu.ptx_mma || pointwise.groups != 1 ||
        filter.data_type == DataType::kInt8 || dw_filter.shape[3] != 1 ||
        channels % 8 != 0 ||
        first.input(kDepthwiseConv2dBiasInput) == nullptr) {
      return Unsupported("the operators do not fit one kernel");
    }
    MACE_ASSIGN_OR_RETURN(
        const WindowGeometry second_window,
        Conv2DWindow(pointwise, second->input(kConv2DInputInput)->shape,
                     filter.shape));
    if (!IsPointwise(second_window)) {
      return Unsupported("the second convolution is not pointwise");
    }
    MACE_ASSIGN_OR_RETURN(
        WindowGeometry window,
        DepthwiseConv2dWindow(depthwise,
                              first.WholeInput(kDepthwiseConv2dInputInput),
                              dw_filter.shape));
    first.SetBand(&window.axis[0]);
    const WindowAxis &v = window.axis[0];
    const WindowAxis &h = window.axis[1];
    if (v.kernel * h.kernel > kMaxTaps) {
      return Unsupported("the window is large");
    }
    Launch launch(kConvMmaCl, "conv_mma");
    launch.Define("TAIL_8", 0)
        .Define("DEPTHWISE")
        .Define("KH", v.kernel)
        .Define("KW", h.kernel);
    AddMmaInput(gpu, kDepthwiseConv2dInputInput, &launch);
    AddStoredElements(first, "dw_filter", kDepthwiseConv2dFilterInput, &launch);
    launch.Constant("dw_bias", kDepthwiseConv2dBiasInput)
        .AddActivation(depthwise.activation, depthwise.activation_limit,
                       depthwise.activation_alpha, depthwise.activation_beta,
                       "DW");
    launch.Of(1).Constant("filter", kConv2DFilterInput, MmaFilter(gpu, false));
    if (second->input(kConv2DBiasInput) != nullptr) {
      launch.Define("HAS_BIAS").Constant("bias", kConv2DBiasInput);
    }
    const GpuDims out = second->OutputDims();
    const int64_t chunks = (channels + 31) / 32;
    launch.Residual(*second, kConv2DResidualInput)
        .Output("output")
        .ActivationOf(pointwise)
        .Ints(1, 1, chunks, out.pixels())
        .Ints(v.stride, h.stride, v.dilation, h.dilation)
        .Ints2(v.pad_before, h.pad_before);
    DivideMma(*second, {out.c, out.pixels(), chunks, true}, &launch);
    second->Add(std::move(launch));
    return MaceStatus();
  }
};

const OpenclFusionRegistration registration(
    {"DepthwiseConv2d", "Conv2D"}, []() -> std::unique_ptr<OpenclFusion> {
      return std::make_unique<DepthwisePointwise>();
    });

}  // namespace
}  // namespace mace
