// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/opencl_op/gpu_line.h"
#include "mace/ops/opencl_op/opencl_op.h"
#include "mace/ops/softmax/softmax_cl.h"
#include "mace/ops/softmax/softmax_schema.h"

namespace mace {
namespace {

class SoftmaxOpencl final : public OpenclOp {
 public:
  MaceStatus Plan(OpenclPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<SoftmaxAttributes>();
    const Shape &shape = context->input(kSoftmaxInputInput)->shape;
    const GpuLines lines(
        shape, static_cast<size_t>(shape.NormalizeAxis(attributes.axis)));
    Launch launch(kSoftmaxCl,
                  lines.channels() ? "softmax_channels" : "softmax_pixels");
    launch.Input("input", kSoftmaxInputInput).Output("output");
    lines.AddTo(&launch);
    if (attributes.log) launch.Define("LOG");
    lines.Group(context->gpu(), 4 * sizeof(float))
        .AddTo(&launch, lines.count());
    context->Add(std::move(launch));
    return MaceStatus();
  }
};

MACE_REGISTER_OP(Softmax, GPU, SoftmaxOpencl);

}  // namespace
}  // namespace mace
