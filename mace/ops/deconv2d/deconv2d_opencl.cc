// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "mace/core/base/divide.h"
#include "mace/ops/deconv2d/deconv2d_cl.h"
#include "mace/ops/deconv2d/deconv2d_schema.h"
#include "mace/ops/opencl_op/opencl_op.h"
#include "mace/ops/window/transposed_window.h"

namespace mace {
namespace {

// Outputs that one work item computes.
constexpr int64_t kPixels = 4;

class Deconv2DOpencl final : public OpenclOp {
 public:
  MaceStatus Plan(OpenclPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<Deconv2DAttributes>();
    const Shape &filter = context->input(kDeconv2DFilterInput)->shape;
    const TransposedAxis v = MakeTransposedAxis(attributes, 0, filter[1]);
    const TransposedAxis h = MakeTransposedAxis(attributes, 1, filter[2]);
    const TransposedStep down = TransposedStepOf(v);
    const TransposedStep across = TransposedStepOf(h);
    const GpuDims out = context->OutputDims();
    const int64_t in_group = filter[3];
    const int64_t out_group = filter[0] / attributes.groups;
    const bool whole_blocks =
        attributes.groups == 1 || (in_group % 4 == 0 && out_group % 4 == 0);
    Launch launch(kDeconv2dCl, whole_blocks ? "deconv2d" : "deconv2d_groups");
    launch.Input("input", kDeconv2DInputInput)
        .Constant("filter", kDeconv2DFilterInput);
    if (context->input(kDeconv2DBiasInput) != nullptr) {
      launch.Define("HAS_BIAS").Constant("bias", kDeconv2DBiasInput);
    }
    launch.Output("output")
        .ActivationOf(attributes)
        .Ints2(in_group, out_group)
        .Ints(v.kernel, v.stride, v.dilation, v.pad_before)
        .Ints(h.kernel, h.stride, h.dilation, h.pad_before)
        .Ints(down.kernel, down.input, across.kernel, across.input);
    if (whole_blocks) {
      const int64_t strip = kPixels * h.stride;
      const int64_t strips = DivideUp(out.w, strip);
      launch.Define("PIXELS", kPixels)
          .Define("TAIL", in_group % 4)
          .Items(out.blocks(), strips * h.stride, out.rows());
    } else {
      launch.Items(out.blocks(), out.w, out.rows());
    }
    context->Add(std::move(launch));
    return MaceStatus();
  }

  OpReport Report(const OpenclPlanContext &context) const override {
    const auto &attributes = context.AttributesAs<Deconv2DAttributes>();
    const Shape &filter = context.input(kDeconv2DFilterInput)->shape;
    const Shape &input = context.input(kDeconv2DInputInput)->shape;
    return {
        input.Elements(0, 3) * filter.Elements(),
        ReportTransposed(MakeTransposedAxis(attributes, 0, filter[1]),
                         MakeTransposedAxis(attributes, 1, filter[2]), filter)};
  }
};

MACE_REGISTER_OP(Deconv2D, GPU, Deconv2DOpencl);

}  // namespace
}  // namespace mace
