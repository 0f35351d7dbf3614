// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/gather/one_hot_cl.h"
#include "mace/ops/gather/one_hot_schema.h"
#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {
namespace {

class OneHotOpencl final : public OpenclOp {
 public:
  bool TakesIntegers() const override { return true; }

  MaceStatus Plan(OpenclPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<OneHotAttributes>();
    const Tensor &output = *context->output(0);
    const auto axis =
        static_cast<size_t>(output.shape.NormalizeAxis(attributes.axis));
    Launch launch(kOneHotCl, "one_hot");
    if (output.data_type == DataType::kInt32) launch.Define("OF_INTS");
    const GpuDims dims = context->OutputDims();
    launch.Input("indices", kOneHotIndicesInput)
        .Input("values", kOneHotValuesInput)
        .Output("output")
        .Int(attributes.depth)
        .Int(output.shape.Elements(axis + 1, output.shape.rank()))
        .Int(attributes.wrap ? 1 : 0)
        .Items(dims.blocks(), dims.w, dims.rows());
    context->Add(std::move(launch));
    return MaceStatus();
  }
};

MACE_REGISTER_OP(OneHot, GPU, OneHotOpencl);

}  // namespace
}  // namespace mace
