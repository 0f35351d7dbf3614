// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/activation/activation_cl.h"
#include "mace/ops/activation/activation_schema.h"
#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {
namespace {

class ActivationOpencl final : public OpenclOp {
 public:
  NumberRange Range(const OpenclPlanContext &context) const override {
    return NumberRange::Of(NumberRange::Result::kElements)
        .Then(context.AttributesAs<ActivationAttributes>().activation);
  }
  MaceStatus Plan(OpenclPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<ActivationAttributes>();
    const GpuDims dims = context->OutputDims();
    if (attributes.activation == Activation::PRELU) {
      context->Add(Launch(kActivationCl, "prelu")
                       .Input("input", kActivationInputInput)
                       .Input("slope", kActivationSlopeInput)
                       .Output("output")
                       .Items(dims.blocks(), dims.w, dims.rows()));
      return MaceStatus();
    }
    context->Add(Launch(kActivationCl, "activation")
                     .Input("input", kActivationInputInput)
                     .Output("output")
                     .ActivationOf(attributes)
                     .Items(dims.blocks(), dims.w, dims.rows()));
    return MaceStatus();
  }
};

MACE_REGISTER_OP(Activation, GPU, ActivationOpencl);

}  // namespace
}  // namespace mace
