// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/opencl_op/gpu_quantization.h"
#include "mace/ops/opencl_op/opencl_op.h"
#include "mace/ops/quantize/dequantize_cl.h"
#include "mace/ops/quantize/dequantize_schema.h"

namespace mace {
namespace {

class DequantizeOpencl final : public OpenclOp {
 public:
  bool TakesIntegers() const override { return true; }
  bool TakesBytes() const override { return true; }

  MaceStatus Plan(OpenclPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<DequantizeAttributes>();
    Launch launch(kDequantizeCl, "dequantize");
    launch.Input("input", kDequantizeInputInput).Output("output");
    AddQuantization(*context,
                    {kDequantizeInputInput, kDequantizeScaleInput,
                     kDequantizeZeroPointInput},
                    attributes.axis, &launch);
    const GpuDims dims = context->OutputDims();
    launch.Items(dims.blocks(), dims.w, dims.rows());
    context->Add(std::move(launch));
    return MaceStatus();
  }
};

MACE_REGISTER_OP(Dequantize, GPU, DequantizeOpencl);

}  // namespace
}  // namespace mace
