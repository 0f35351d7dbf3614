// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/batch_norm/batch_norm_cl.h"
#include "mace/ops/batch_norm/batch_norm_schema.h"
#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {
namespace {

class BatchNormOpencl final : public OpenclOp {
 public:
  MaceStatus Plan(OpenclPlanContext *context) const override {
    const GpuDims dims = context->OutputDims();
    context->Add(Launch(kBatchNormCl, "batch_norm")
                     .Input("input", kBatchNormInputInput)
                     .Constant("scale", kBatchNormScaleInput)
                     .Constant("offset", kBatchNormOffsetInput)
                     .Output("output")
                     .ActivationOf(context->AttributesAs<BatchNormAttributes>())
                     .Items(dims.blocks(), dims.w, dims.rows()));
    return MaceStatus();
  }
};

MACE_REGISTER_OP(BatchNorm, GPU, BatchNormOpencl);

}  // namespace
}  // namespace mace
