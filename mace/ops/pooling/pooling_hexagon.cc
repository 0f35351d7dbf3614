// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/model/quantized_checks.h"
#include "mace/ops/hexagon_op/hexagon_op.h"
#include "mace/ops/hexagon_op/tables.h"
#include "mace/ops/pooling/pooling.h"

namespace mace {
namespace {

// Of kernels, strides, dilations and pads.
constexpr int64_t kMostSide = 1 << 15;

MaceStatus CheckAxis(const WindowAxis &axis) {
  for (const int64_t size : {axis.kernel, axis.stride, axis.dilation,
                             axis.pad_before, axis.pad_after}) {
    if (size > kMostSide) {
      return Unsupported("its kernel, strides, dilations and pads are at most ",
                         kMostSide, ", not ", size);
    }
  }
  return MaceStatus();
}

class HexagonPoolingOp final : public HexagonOp {
 public:
  MaceStatus Plan(HexagonPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<PoolingAttributes>();
    const Shape &shape = context->input(kPoolingInputInput)->shape;
    MACE_ASSIGN_OR_RETURN(const WindowGeometry geometry,
                          PoolingWindow(attributes, shape));
    const WindowAxis &down = geometry.axis[0];
    const WindowAxis &across = geometry.axis[1];
    MACE_RETURN_IF_ERROR(CheckAxis(down));
    MACE_RETURN_IF_ERROR(CheckAxis(across));
    const int64_t elements = down.kernel * across.kernel;
    if (elements > hexagon::kMostPooled) {
      return Unsupported("its window has at most ", hexagon::kMostPooled,
                         " elements, not ", elements);
    }
    const bool largest = attributes.mode == PoolingMode::MAX;
    hexagon::PoolWindowsParameters pool = {};
    pool.input = context->Input(kPoolingInputInput);
    pool.output = context->Output(0);
    hexagon::WindowParameters &w = pool.window;
    w.height = static_cast<int32_t>(down.kernel);
    w.width = static_cast<int32_t>(across.kernel);
    w.stride_y = static_cast<int32_t>(down.stride);
    w.stride_x = static_cast<int32_t>(across.stride);
    w.dilation_y = static_cast<int32_t>(down.dilation);
    w.dilation_x = static_cast<int32_t>(across.dilation);
    w.pad_top = static_cast<int32_t>(down.pad_before);
    w.pad_left = static_cast<int32_t>(across.pad_before);
    pool.pad_bottom = static_cast<int32_t>(down.pad_after);
    pool.pad_right = static_cast<int32_t>(across.pad_after);
    pool.mode = static_cast<uint32_t>(largest ? hexagon::PoolMode::kLargest
                                      : attributes.count_include_pad
                                          ? hexagon::PoolMode::kAveragePadded
                                          : hexagon::PoolMode::kAverage);
    pool.ratio = context->InputNumbers(kPoolingInputInput).scale /
                 context->OutputNumbers().scale;
    MACE_RETURN_IF_ERROR(CheckHexagonMultiplier(pool.ratio));
    MACE_RETURN_IF_ERROR(
        CheckHexagonMultiplier(pool.ratio / static_cast<float>(elements)));
    if (largest && HasWindowsOutside(geometry) && Rescales(*context)) {
      return Unsupported(
          "a window is outside of its input, whose scale is not the output's");
    }
    context->Add(pool);
    return largest ? AddRescaling(context) : MaceStatus();
  }

  HexagonReport Report(const HexagonPlanContext &context) const override {
    const Result<WindowGeometry> window =
        PoolingWindow(context.AttributesAs<PoolingAttributes>(),
                      context.input(kPoolingInputInput)->shape);
    if (!window.ok()) return {};
    const WindowAxis *axis = window.value().axis;
    const Shape kernels = {axis[0].kernel, axis[1].kernel};
    return {context.output(0)->elements() * kernels.Elements(),
            ReportWindow(window.value(), kernels)};
  }

 private:
  static bool Rescales(const HexagonPlanContext &context) {
    const HexagonNumbers from = context.InputNumbers(kPoolingInputInput);
    const HexagonNumbers to = context.OutputNumbers();
    return from.scale != to.scale || from.zero != to.zero;
  }
  // Whether a window has no element of the image: its result is the number 0,
  // which is not to be rescaled.
  static bool HasWindowsOutside(const WindowGeometry &geometry) {
    for (const WindowAxis &axis : geometry.axis) {
      for (int64_t i = 0; i < axis.output; ++i) {
        if (TapsOf(axis, i).inside == 0) return true;
      }
    }
    return false;
  }
};

MACE_REGISTER_QUANTIZED_OP(Pooling, HEXAGON, HexagonPoolingOp);

}  // namespace
}  // namespace mace
