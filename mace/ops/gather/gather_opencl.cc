// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "mace/ops/gather/gather_cl.h"
#include "mace/ops/gather/gather_schema.h"
#include "mace/ops/opencl_op/move.h"

namespace mace {
namespace {

class GatherOpencl final : public OpenclOp {
 public:
  NumberRange Range(const OpenclPlanContext &) const override {
    return NumberRange::Of(NumberRange::Result::kElements);
  }
  MaceStatus Plan(OpenclPlanContext *context) const override {
    const Tensor &params = *context->input(kGatherParamsInput);
    const Tensor &indices = *context->input(kGatherIndicesInput);
    const auto axis = static_cast<size_t>(params.shape.NormalizeAxis(
        context->AttributesAs<GatherAttributes>().axis));
    const int64_t length = params.shape[axis];
    const int64_t count = indices.elements();
    // The CPU reports an error.
    if (indices.data != nullptr) {
      const auto *index = indices.As<int32_t>();
      for (int64_t i = 0; i < count; ++i) {
        if (index[i] < -length || index[i] >= length) {
          return Unsupported("index ", index[i], " is out of range");
        }
      }
    }
    const GpuDims out = context->OutputDims();
    int64_t inner = params.shape.Elements(axis + 1, params.shape.rank());
    Launch launch(kGatherCl, "gather");
    if (axis + 1 < params.shape.rank()) {
      inner = inner / out.c * out.blocks();
      launch.Define("BLOCKS");
    }
    DefineValues(params, &launch);
    launch.Input("params", kGatherParamsInput)
        .Input("indices", kGatherIndicesInput)
        .Output("output")
        .Ints(length, count, inner, 0)
        .Items(out.blocks(), out.w, out.rows());
    context->Add(std::move(launch));
    return MaceStatus();
  }
  bool TakesIntegers() const override { return true; }
};

MACE_REGISTER_OP(Gather, GPU, GatherOpencl);

}  // namespace
}  // namespace mace
