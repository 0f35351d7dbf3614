// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <optional>

#include "mace/ops/opencl_op/opencl_op.h"
#include "mace/ops/pooling/pooling.h"
#include "mace/ops/pooling/pooling_cl.h"

namespace mace {
namespace {

// Work groups share a window if it has at least so many taps, and if one item
// per output would leave the GPU idle.
constexpr int64_t kSharedTaps = 16;
constexpr int64_t kItemsPerUnit = 256;
// The items of such a group: blocks of channels, and taps.
constexpr int64_t kBlocks = 4;
constexpr int64_t kLanes = 32;

class PoolingOpencl final : public OpenclOp {
 public:
  NumberRange Range(const OpenclPlanContext &) const override {
    return NumberRange::Of(NumberRange::Result::kLinear);
  }
  MaceStatus Plan(OpenclPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<PoolingAttributes>();
    MACE_ASSIGN_OR_RETURN(
        WindowGeometry window,
        PoolingWindow(attributes, context->WholeInput(kPoolingInputInput)));
    context->SetBand(&window.axis[0]);
    const GpuTraits &gpu = context->gpu();
    const GpuDims out = context->OutputDims();
    const WindowAxis &v = window.axis[0];
    const WindowAxis &h = window.axis[1];
    const bool shared =
        v.kernel * h.kernel >= kSharedTaps &&
        out.blocks() * out.w * out.rows() < gpu.compute_units * kItemsPerUnit &&
        gpu.max_work_group >= kBlocks * kLanes &&
        gpu.local_bytes >= kBlocks * kLanes * 4 * sizeof(float);
    const int64_t lanes = shared ? kLanes : 1;
    Launch launch(kPoolingCl, "pooling");
    launch.Input("input", kPoolingInputInput)
        .Output("output")
        .Ints(v.kernel, h.kernel, v.stride, h.stride)
        .Ints2(v.dilation, h.dilation)
        .Ints(v.pad_before, h.pad_before, v.pad_after, h.pad_after)
        .Int(attributes.count_include_pad ? 1 : 0)
        .Define("LANES", lanes)
        .Items(out.blocks(), out.w * lanes, out.rows());
    if (attributes.mode == PoolingMode::MAX) launch.Define("MAX");
    if (shared) launch.Define("BLOCKS", kBlocks).WorkGroup(kBlocks, kLanes);
    context->Add(launch);
    return MaceStatus();
  }

  OpReport Report(const OpenclPlanContext &context) const override {
    const auto &attributes = context.AttributesAs<PoolingAttributes>();
    const Result<WindowGeometry> window =
        PoolingWindow(attributes, context.input(kPoolingInputInput)->shape);
    if (!window.ok()) return OpReport();
    const WindowAxis *axis = window.value().axis;
    return {0, ReportWindow(window.value(),
                            Shape({axis[0].kernel, axis[1].kernel}))};
  }

  std::optional<WindowAxis> Rows(
      const OpenclPlanContext &context) const override {
    const Shape &input = context.WholeInput(kPoolingInputInput);
    if (input[0] != 1) return std::nullopt;
    const Result<WindowGeometry> window =
        PoolingWindow(context.AttributesAs<PoolingAttributes>(), input);
    if (!window.ok()) return std::nullopt;
    return window.value().axis[0];
  }
};

MACE_REGISTER_OP(Pooling, GPU, PoolingOpencl);

}  // namespace
}  // namespace mace
