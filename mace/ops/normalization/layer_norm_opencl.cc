// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/normalization/layer_norm_cl.h"
#include "mace/ops/normalization/layer_norm_schema.h"
#include "mace/ops/opencl_op/gpu_line.h"
#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {
namespace {

class LayerNormOpencl final : public OpenclOp {
 public:
  MaceStatus Plan(OpenclPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<LayerNormAttributes>();
    const Shape &shape = context->input(kLayerNormInputInput)->shape;
    const GpuLines lines(shape, shape.rank() - 1);
    Launch launch(kLayerNormCl, "layer_norm");
    launch.Input("input", kLayerNormInputInput);
    if (context->input(kLayerNormScaleInput) != nullptr) {
      launch.Define("HAS_SCALE").Constant("scale", kLayerNormScaleInput);
    }
    if (context->input(kLayerNormOffsetInput) != nullptr) {
      launch.Define("HAS_OFFSET").Constant("offset", kLayerNormOffsetInput);
    }
    if (attributes.subtract_mean) launch.Define("SUBTRACT_MEAN");
    launch.Output("output");
    lines.AddTo(&launch);
    launch.Float(attributes.epsilon);
    lines.Group(context->gpu(), sizeof(float)).AddTo(&launch, lines.count());
    context->Add(std::move(launch));
    return MaceStatus();
  }
};

MACE_REGISTER_OP(LayerNorm, GPU, LayerNormOpencl);

}  // namespace
}  // namespace mace
