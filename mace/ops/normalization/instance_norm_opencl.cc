// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "mace/core/base/divide.h"
#include "mace/ops/normalization/instance_norm_cl.h"
#include "mace/ops/normalization/instance_norm_schema.h"
#include "mace/ops/opencl_op/gpu_line.h"
#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {
namespace {

// Pixels of a part of an image, so that a launch for the moments is worthwhile.
constexpr int64_t kPartPixels = 2048;
// Work groups per compute unit that are enough.
constexpr int64_t kGroupsPerUnit = 4;

// The parts of an image that are normalised at once.
int64_t PartsOf(const GpuTraits &gpu, int64_t lines, int64_t pixels) {
  const int64_t wanted = kGroupsPerUnit * gpu.compute_units / lines;
  return std::max<int64_t>(1, std::min(wanted, pixels / kPartPixels));
}

class InstanceNormOpencl final : public OpenclOp {
 public:
  MaceStatus Plan(OpenclPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<InstanceNormAttributes>();
    const Shape &shape = context->input(kInstanceNormInputInput)->shape;
    const int64_t images = shape[0];
    const int64_t pixels = shape.Elements(1, shape.rank() - 1);
    const GpuDims dims = context->OutputDims();
    const int64_t wanted =
        PartsOf(context->gpu(), images * dims.blocks(), pixels);
    const int64_t part = DivideUp(pixels, wanted);
    const int64_t parts = DivideUp(pixels, part);
    const int64_t lines = images * parts * dims.blocks();
    const GpuGroup group = GpuGroup::For(context->gpu(), lines, part,
                                         dims.blocks(), 4 * sizeof(float));
    Launch launch(kInstanceNormCl,
                  parts == 1 ? "instance_norm" : "instance_apply");
    launch.Input("input", kInstanceNormInputInput);
    if (parts > 1) {
      const size_t moments =
          context->Scratch({images * parts, 1, 2, dims.c}, true);
      Launch first(kInstanceNormCl, "instance_moments");
      first.Input("input", kInstanceNormInputInput)
          .Scratch("moments", moments)
          .Ints(lines, pixels, parts, part);
      group.AddTo(&first, lines);
      context->Add(std::move(first));
      launch.Scratch("moments", moments);
    }
    launch.Input("scale", kInstanceNormScaleInput)
        .Input("offset", kInstanceNormOffsetInput)
        .Output("output")
        .ActivationOf(attributes)
        .Ints(lines, pixels, parts, part)
        .Float(attributes.epsilon);
    group.AddTo(&launch, lines);
    context->Add(std::move(launch));
    return MaceStatus();
  }
};

MACE_REGISTER_OP(InstanceNorm, GPU, InstanceNormOpencl);

}  // namespace
}  // namespace mace
