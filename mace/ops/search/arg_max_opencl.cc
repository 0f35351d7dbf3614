// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/opencl_op/gpu_line.h"
#include "mace/ops/opencl_op/opencl_op.h"
#include "mace/ops/search/arg_max_cl.h"
#include "mace/ops/search/arg_max_schema.h"

namespace mace {
namespace {

class ArgMaxOpencl final : public OpenclOp {
 public:
  bool TakesIntegers() const override { return true; }

  MaceStatus Plan(OpenclPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<ArgMaxAttributes>();
    const Shape &shape = context->input(kArgMaxInputInput)->shape;
    const GpuLines lines(
        shape, static_cast<size_t>(shape.NormalizeAxis(attributes.axis)));
    Launch launch(kArgMaxCl, lines.channels() ? "arg_channels" : "arg_pixels");
    launch.Input("input", kArgMaxInputInput).Output("output");
    lines.AddTo(&launch);
    launch.Float(attributes.mode == ArgMaxMode::MIN ? -1.0f : 1.0f)
        .Int(attributes.last ? -1 : 1);
    lines.Group(context->gpu(), 4 * (sizeof(float) + sizeof(int32_t)))
        .AddTo(&launch, lines.count());
    context->Add(std::move(launch));
    return MaceStatus();
  }
};

MACE_REGISTER_OP(ArgMax, GPU, ArgMaxOpencl);

}  // namespace
}  // namespace mace
