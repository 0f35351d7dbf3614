// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/normalization/batch_norm_opencl.h"

#include <utility>

#include "mace/ops/normalization/batch_norm_cl.h"
#include "mace/ops/normalization/batch_norm_schema.h"

namespace mace {

void AddBatchNorm(bool after_cast, OpenclPlanContext *context) {
  const GpuDims dims = context->OutputDims();
  Launch launch(kBatchNormCl, "batch_norm");
  if (after_cast) launch.Define("OF_BYTES");
  // The only input of a Cast has the same port.
  launch.Input("input", kBatchNormInputInput)
      .Of(after_cast ? 1 : 0)
      .Constant("scale", kBatchNormScaleInput)
      .Constant("offset", kBatchNormOffsetInput)
      .Output("output")
      .ActivationOf(context->AttributesAs<BatchNormAttributes>())
      .Items(dims.blocks(), dims.w, dims.rows());
  context->Add(std::move(launch));
}

namespace {

class BatchNormOpencl final : public OpenclOp {
 public:
  NumberRange Range(const OpenclPlanContext &context) const override {
    return NumberRange::Of(NumberRange::Result::kElements)
        .Then(context.AttributesAs<BatchNormAttributes>().activation);
  }
  MaceStatus Plan(OpenclPlanContext *context) const override {
    AddBatchNorm(false, context);
    return MaceStatus();
  }
};

MACE_REGISTER_OP(BatchNorm, GPU, BatchNormOpencl);

}  // namespace
}  // namespace mace
