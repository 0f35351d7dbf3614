// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/instance_norm/instance_norm_cl.h"
#include "mace/ops/instance_norm/instance_norm_schema.h"
#include "mace/ops/opencl_op/gpu_line.h"
#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {
namespace {

class InstanceNormOpencl final : public OpenclOp {
 public:
  MaceStatus Plan(OpenclPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<InstanceNormAttributes>();
    const Shape &shape = context->input(kInstanceNormInputInput)->shape;
    const int64_t pixels = shape.Elements(1, shape.rank() - 1);
    const int64_t blocks = context->OutputDims().blocks();
    const int64_t lines = shape[0] * blocks;
    Launch launch(kInstanceNormCl, "instance_norm");
    launch.Input("input", kInstanceNormInputInput)
        .Input("scale", kInstanceNormScaleInput)
        .Input("offset", kInstanceNormOffsetInput)
        .Output("output")
        .ActivationOf(attributes)
        .Int(lines)
        .Int(pixels)
        .Float(attributes.epsilon);
    GpuGroup::For(context->gpu(), lines, pixels, blocks, 4 * sizeof(float))
        .AddTo(&launch, lines);
    context->Add(std::move(launch));
    return MaceStatus();
  }
};

MACE_REGISTER_OP(InstanceNorm, GPU, InstanceNormOpencl);

}  // namespace
}  // namespace mace
