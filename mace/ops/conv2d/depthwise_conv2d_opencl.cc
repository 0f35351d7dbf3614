// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <utility>

#include "mace/core/base/divide.h"
#include "mace/ops/conv2d/depthwise_conv2d.h"
#include "mace/ops/conv2d/depthwise_conv2d_cl.h"
#include "mace/ops/opencl_op/opencl_op.h"
#include "mace/ops/opencl_op/stored_elements.h"

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

// Rows of outputs of an item. Two read fewer inputs for each output, but need
// three times as many registers, and leave half as many items, of which there
// must be enough for all compute units to wait for memory in turns.
int64_t RowsOf(const GpuTraits &gpu,
               const WindowGeometry &window,
               const GpuDims &out) {
  constexpr int64_t kMostTapsKept = 9;
  constexpr int64_t kOutputsOfUnit = 16384;
  if (window.axis[0].kernel < 2 ||
      window.axis[0].kernel * window.axis[1].kernel > kMostTapsKept ||
      window.axis[0].stride > window.axis[0].kernel) {
    return 1;
  }
  const bool waits = gpu.family != GpuFamily::kCpu;
  const int64_t outputs = out.pixels() * out.blocks();
  return waits && outputs < kOutputsOfUnit * gpu.compute_units ? 1 : 2;
}

class DepthwiseConv2dOpencl final : public OpenclOp {
 public:
  NumberRange Range(const OpenclPlanContext &context) const override {
    return NumberRange::Of(NumberRange::Result::kLinear)
        .Then(context.AttributesAs<DepthwiseConv2dAttributes>().activation);
  }
  MaceStatus Plan(OpenclPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<DepthwiseConv2dAttributes>();
    const Shape &filter = context->input(kDepthwiseConv2dFilterInput)->shape;
    MACE_ASSIGN_OR_RETURN(
        WindowGeometry window,
        DepthwiseConv2dWindow(attributes,
                              context->WholeInput(kDepthwiseConv2dInputInput),
                              filter));
    context->SetBand(&window.axis[0]);
    const GpuDims out = context->OutputDims();
    const WindowAxis &v = window.axis[0];
    const WindowAxis &h = window.axis[1];
    const bool unrolled = Unrolls(window);
    Launch launch(kDepthwiseConv2dCl,
                  unrolled ? "depthwise_unrolled" : "depthwise");
    launch.Input("input", kDepthwiseConv2dInputInput);
    AddStoredElements(*context, "filter", kDepthwiseConv2dFilterInput, &launch);
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
      const int64_t rows = RowsOf(context->gpu(), window, out);
      launch.Define("KERNEL_Y", v.kernel)
          .Define("KERNEL_X", h.kernel)
          .Define("STRIDE_Y", v.stride)
          .Define("STRIDE_X", h.stride)
          .Define("COLUMNS", columns)
          .Define("ROWS", rows)
          .Items(out.blocks(), DivideUp(out.w, columns),
                 out.n * DivideUp(out.h, rows));
    } else {
      launch.Ints(v.kernel, h.kernel, v.stride, h.stride)
          .Ints2(v.dilation, h.dilation)
          .Items(out.blocks(), out.w, out.rows());
    }
    if (filter[3] != 1) launch.Define("EXPAND").Int(filter[3]);
    context->Add(std::move(launch));
    return MaceStatus();
  }

  OpReport Report(const OpenclPlanContext &context) const override {
    const Shape &filter = context.input(kDepthwiseConv2dFilterInput)->shape;
    const Result<WindowGeometry> window = DepthwiseConv2dWindow(
        context.AttributesAs<DepthwiseConv2dAttributes>(),
        context.input(kDepthwiseConv2dInputInput)->shape, filter);
    if (!window.ok()) return OpReport();
    return {context.output(0)->elements() * filter[0] * filter[1],
            ReportWindow(window.value(), filter)};
  }

  std::optional<WindowAxis> Rows(
      const OpenclPlanContext &context) const override {
    const Shape &input = context.WholeInput(kDepthwiseConv2dInputInput);
    if (input[0] != 1) return std::nullopt;
    const Result<WindowGeometry> window = DepthwiseConv2dWindow(
        context.AttributesAs<DepthwiseConv2dAttributes>(), input,
        context.input(kDepthwiseConv2dFilterInput)->shape);
    if (!window.ok()) return std::nullopt;
    return window.value().axis[0];
  }
};

MACE_REGISTER_OP(DepthwiseConv2d, GPU, DepthwiseConv2dOpencl);

}  // namespace
}  // namespace mace
