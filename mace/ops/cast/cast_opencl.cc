// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/cast/cast_cl.h"
#include "mace/ops/cast/cast_schema.h"
#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {
namespace {

const char *FromMacro(DataType type) {
  switch (type) {
    case DataType::kFloat32:
      return "FROM_FLOAT32";
    case DataType::kBool:
      return "FROM_BOOL";
    default:
      return "FROM_INTEGER";
  }
}

class CastOpencl final : public OpenclOp {
 public:
  NumberRange Range(const OpenclPlanContext &) const override {
    return NumberRange::Of(NumberRange::Result::kElements);
  }
  bool TakesIntegers() const override { return true; }
  bool TakesBytes() const override { return true; }

  MaceStatus Plan(OpenclPlanContext *context) const override {
    const DataType from = context->input(kCastInputInput)->data_type;
    if (from == context->output(0)->data_type &&
        context->CanAlias(0, kCastInputInput)) {
      context->Alias(0, kCastInputInput);
      return MaceStatus();
    }
    const auto &attributes = context->AttributesAs<CastAttributes>();
    if (attributes.wide && from == DataType::kFloat32) {
      return Unsupported("it could not report a result beyond 32 bits");
    }
    const auto to = static_cast<size_t>(attributes.to);
    const GpuDims dims = context->OutputDims();
    context->Add(Launch(kCastCl, "cast")
                     .Define(FromMacro(from))
                     .Define(std::string("TO_") + kCastToNames[to])
                     .Input("input", kCastInputInput)
                     .Output("output")
                     .Items(dims.blocks(), dims.w, dims.rows()));
    return MaceStatus();
  }
};

MACE_REGISTER_OP(Cast, GPU, CastOpencl);

}  // namespace
}  // namespace mace
