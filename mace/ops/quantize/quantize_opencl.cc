// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/opencl_op/gpu_quantization.h"
#include "mace/ops/opencl_op/opencl_op.h"
#include "mace/ops/quantize/quantize_cl.h"
#include "mace/ops/quantize/quantize_schema.h"

namespace mace {
namespace {

class QuantizeOpencl final : public OpenclOp {
 public:
  bool TakesBytes() const override { return true; }

  MaceStatus Plan(OpenclPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<QuantizeAttributes>();
    Launch launch(kQuantizeCl, "quantize");
    launch.Input("input", kQuantizeInputInput).Output("output");
    AddQuantization(
        *context,
        {kQuantizeInputInput, kQuantizeScaleInput, kQuantizeZeroPointInput},
        attributes.axis, &launch);
    launch.Int(attributes.to == QuantizeTo::UINT8 ? 0 : -128);
    const GpuDims dims = context->OutputDims();
    launch.Items(dims.blocks(), dims.w, dims.rows());
    context->Add(std::move(launch));
    return MaceStatus();
  }
};

MACE_REGISTER_OP(Quantize, GPU, QuantizeOpencl);

}  // namespace
}  // namespace mace
