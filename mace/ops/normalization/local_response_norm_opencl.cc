// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/normalization/local_response_norm_cl.h"
#include "mace/ops/normalization/local_response_norm_schema.h"
#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {
namespace {

class LocalResponseNormOpencl final : public OpenclOp {
 public:
  MaceStatus Plan(OpenclPlanContext *context) const override {
    const auto &attributes =
        context->AttributesAs<LocalResponseNormAttributes>();
    const GpuDims dims = context->OutputDims();
    context->Add(
        Launch(kLocalResponseNormCl, "local_response_norm")
            .Input("input", kLocalResponseNormInputInput)
            .Output("output")
            .Ints2(attributes.before, attributes.after)
            .Floats(attributes.alpha, attributes.beta, attributes.bias, 0)
            .Items(dims.blocks(), dims.w, dims.rows()));
    return MaceStatus();
  }
};

MACE_REGISTER_OP(LocalResponseNorm, GPU, LocalResponseNormOpencl);

}  // namespace
}  // namespace mace
