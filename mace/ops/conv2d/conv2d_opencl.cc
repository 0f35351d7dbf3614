// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <utility>

#include "mace/core/base/divide.h"
#include "mace/core/model/packed_filter.h"
#include "mace/kernels/opencl/conv_mma_cl.h"
#include "mace/ops/conv2d/conv2d.h"
#include "mace/ops/conv2d/conv2d_cl.h"
#include "mace/ops/conv2d/winograd_cl.h"
#include "mace/ops/opencl_op/conv_tile.h"
#include "mace/ops/opencl_op/mma_conv.h"
#include "mace/ops/opencl_op/opencl_op.h"
#include "mace/ops/opencl_op/winograd_conv.h"

namespace mace {
namespace {

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

void AddFilterSize(const Conv &conv, Launch *launch) {
  launch->Ints(conv.window.axis[0].kernel, conv.window.axis[1].kernel,
               conv.in_group, conv.out_group);
}

// A window of one pixel that is always inside the input.
bool IsOneTap(const WindowGeometry &window) {
  for (const WindowAxis &axis : window.axis) {
    if (axis.kernel != 1 || axis.pad_before != 0 ||
        (axis.output - 1) * axis.stride >= axis.size) {
      return false;
    }
  }
  return true;
}

Launch PlanMma(const Conv &conv, const OpenclPlanContext &context) {
  const WindowAxis &v = conv.window.axis[0];
  const WindowAxis &h = conv.window.axis[1];
  const GpuDims out = context.OutputDims();
  const int64_t taps = v.kernel * h.kernel;
  const int64_t chunks = (conv.in_group + 31) / 32;
  const bool few_channels = taps > 1 && conv.in_group <= kMmaFewChannels;
  Launch launch(kConvMmaCl, "conv_mma");
  launch.Define("TAIL_8", conv.in_group % 8 == 0 ? 0 : 1);
  if (few_channels) launch.Define("FEW_CHANNELS");
  AddMmaInput(context.gpu(), kConv2DInputInput, &launch);
  launch.Constant("filter", kConv2DFilterInput,
                  MmaFilter(context.gpu(), few_channels));
  AddTensors(context, &launch);
  launch.ActivationOf(conv.attributes)
      .Ints(v.kernel, h.kernel, chunks, out.pixels());
  AddWindow(conv.window, &launch);
  const int64_t steps =
      few_channels ? (taps * kMmaFewChannels + 31) / 32 : taps * chunks;
  DivideMma(context, {out.c, out.pixels(), steps, false}, &launch);
  return launch;
}

// Groups whose channels are not whole blocks.
Launch PlanGroups(const Conv &conv, const OpenclPlanContext &context) {
  const GpuDims out = context.OutputDims();
  Launch launch(kConv2dCl, "conv2d_groups");
  launch.Input("input", kConv2DInputInput)
      .Constant("filter", kConv2DFilterInput);
  AddTensors(context, &launch);
  launch.ActivationOf(conv.attributes);
  AddWindow(conv.window, &launch);
  AddFilterSize(conv, &launch);
  launch.Items(out.blocks(), out.w, out.rows());
  return launch;
}

// Whether the GPU reads the filter faster from an image.
bool FitsImage(const Conv &conv, const OpenclPlanContext &context) {
  const Tensor &filter = *context.input(kConv2DFilterInput);
  if (filter.data_type == DataType::kInt8) return false;
  // Of four numbers, whatever the layout of the file is.
  const PackedFilter packed(ConstantLayout::kPackedO16, filter.shape,
                            conv.attributes.groups);
  const int64_t pixels = packed.stored() / 4;
  const auto width = static_cast<int64_t>(kWeightImageWidth);
  return DivideUp(pixels, width) <=
         static_cast<int64_t>(context.gpu().weight_image_rows);
}

Launch PlanDirect(const Conv &conv, const OpenclPlanContext &context) {
  const GpuDims out = context.OutputDims();
  Launch launch(kConv2dCl, "conv2d");
  launch.Define("TAIL", conv.in_group % 4);
  if (IsOneTap(conv.window)) launch.Define("POINTWISE");
  launch.Input("input", kConv2DInputInput);
  if (FitsImage(conv, context)) {
    launch.Define("T_filter", "CW")
        .Constant("filter", kConv2DFilterInput, kWeightImage);
  } else {
    launch.Constant("filter", kConv2DFilterInput);
  }
  AddTensors(context, &launch);
  launch.ActivationOf(conv.attributes);
  AddWindow(conv.window, &launch);
  AddFilterSize(conv, &launch);
  const ConvSize size = {
      out.n, out.h * out.w, conv.attributes.groups, (conv.out_group + 3) / 4,
      conv.window.axis[0].kernel * conv.window.axis[1].kernel *
          ((conv.in_group + 3) / 4)};
  DivideConv(context.gpu(), TunedConvTile(context, kConv2dCl, size), size,
             &launch);
  return launch;
}

WinogradTiles TilesOf(const Conv &conv, const OpenclPlanContext &context) {
  // It is the whole image that had too few tiles for it.
  if (context.band() != nullptr) return {};
  for (const WindowAxis &axis : conv.window.axis) {
    if (axis.kernel != 3 || axis.stride != 1 || axis.dilation != 1) return {};
  }
  if (conv.attributes.groups != 1) return {};
  if (context.input(kConv2DFilterInput)->data_type == DataType::kInt8) {
    return {};
  }
  return ChooseWinograd(context.gpu(), context.hints().winograd,
                        context.InputDims(kConv2DInputInput),
                        context.OutputDims());
}

void PlanWinograd(const Conv &conv,
                  const WinogradTiles &tiles,
                  OpenclPlanContext *context) {
  const GpuTraits &gpu = context->gpu();
  const GpuDims in = tiles.Points(conv.in_group);
  const GpuDims out = tiles.Points(conv.out_group);
  const size_t inputs = context->Scratch(in, tiles.in_float);
  const size_t products = context->Scratch(out, tiles.in_float);
  // Neighbours are next to each other in memory.
  const int channel_axis = gpu.images ? 1 : 0;
  const auto divide = [&](const GpuDims &dims, int64_t rows, Launch *launch) {
    launch->Define("CHANNEL_AXIS", channel_axis);
    if (channel_axis == 0) {
      launch->Items(dims.blocks(), dims.w, rows);
    } else {
      launch->Items(dims.w, dims.blocks(), rows);
    }
  };

  const bool two = tiles.outputs == 2;
  Launch transform(kWinogradCl, two ? "winograd2_input" : "winograd4_input");
  transform.Input("input", kConv2DInputInput)
      .Scratch("points", inputs)
      .Ints2(conv.window.axis[0].pad_before, conv.window.axis[1].pad_before)
      .Int(tiles.rows_of_image);
  divide(in, 2 * tiles.rows, &transform);
  context->Add(std::move(transform));

  const DataType type = context->input(kConv2DFilterInput)->data_type;
  Launch product(kConv2dCl, "conv2d");
  product.Define("PRODUCT")
      .Define("POINTWISE")
      .Define("TAIL", 0)
      .Define("T_filter", type == DataType::kFloat16 ? "CH" : "CF")
      .Scratch("input", inputs)
      .Constant("filter", kConv2DFilterInput, WinogradFilter(tiles.outputs))
      .Scratch("output", products)
      .Ints(1, 1, conv.in_group, conv.out_group);
  const ConvSize size = {tiles.points(), tiles.rows * tiles.columns, 1,
                         out.blocks(), in.blocks()};
  DivideConv(gpu, TunedConvTile(*context, kConv2dCl, size), size, &product);
  context->Add(std::move(product));

  Launch finish(kWinogradCl, two ? "winograd2_output" : "winograd4_output");
  finish.Scratch("points", products);
  AddTensors(*context, &finish);
  finish.ActivationOf(conv.attributes);
  divide(out, tiles.rows, &finish);
  context->Add(std::move(finish));
}

class Conv2DOpencl final : public OpenclOp {
 public:
  NumberRange Range(const OpenclPlanContext &context) const override {
    return NumberRange::Of(NumberRange::Result::kLinear)
        .Then(context.AttributesAs<Conv2DAttributes>().activation);
  }
  MaceStatus Plan(OpenclPlanContext *context) const override {
    const Tensor &filter = *context->input(kConv2DFilterInput);
    const auto &attributes = context->AttributesAs<Conv2DAttributes>();
    Conv conv = {
        attributes, {}, filter.shape[3], filter.shape[0] / attributes.groups};
    MACE_ASSIGN_OR_RETURN(
        conv.window,
        Conv2DWindow(attributes, context->WholeInput(kConv2DInputInput),
                     filter.shape));
    context->SetBand(&conv.window.axis[0]);
    const GpuTraits &gpu = context->gpu();
    const bool mma = gpu.ptx_mma && attributes.groups == 1 &&
                     filter.data_type != DataType::kInt8;
    const bool whole_blocks =
        attributes.groups == 1 ||
        (conv.in_group % 4 == 0 && conv.out_group % 4 == 0);
    const WinogradTiles tiles = mma ? WinogradTiles() : TilesOf(conv, *context);
    if (mma) {
      context->Add(PlanMma(conv, *context));
    } else if (tiles.outputs > 0) {
      PlanWinograd(conv, tiles, context);
    } else {
      context->Add(whole_blocks ? PlanDirect(conv, *context)
                                : PlanGroups(conv, *context));
    }
    return MaceStatus();
  }

  OpReport Report(const OpenclPlanContext &context) const override {
    const Shape &filter = context.input(kConv2DFilterInput)->shape;
    const Result<WindowGeometry> window =
        Conv2DWindow(context.AttributesAs<Conv2DAttributes>(),
                     context.input(kConv2DInputInput)->shape, filter);
    if (!window.ok()) return OpReport();
    return {context.output(0)->elements() * filter.Elements(1, 4),
            ReportWindow(window.value(), filter)};
  }

  std::optional<WindowAxis> Rows(
      const OpenclPlanContext &context) const override {
    const Shape &input = context.WholeInput(kConv2DInputInput);
    if (input[0] != 1 || context.input(kConv2DResidualInput) != nullptr) {
      return std::nullopt;
    }
    const Result<WindowGeometry> window =
        Conv2DWindow(context.AttributesAs<Conv2DAttributes>(), input,
                     context.input(kConv2DFilterInput)->shape);
    if (!window.ok()) return std::nullopt;
    return window.value().axis[0];
  }
};

MACE_REGISTER_OP(Conv2D, GPU, Conv2DOpencl);

}  // namespace
}  // namespace mace
