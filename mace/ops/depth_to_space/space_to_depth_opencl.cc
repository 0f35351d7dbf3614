// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/depth_to_space/space_to_depth_schema.h"
#include "mace/ops/opencl_op/move.h"

namespace mace {
namespace {

class SpaceToDepthOpencl final : public OpenclOp {
 public:
  NumberRange Range(const OpenclPlanContext &) const override {
    return NumberRange::Of(NumberRange::Result::kElements);
  }
  MaceStatus Plan(OpenclPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<SpaceToDepthAttributes>();
    const GpuDims in = context->InputDims(kSpaceToDepthInputInput);
    const GpuDims out = context->OutputDims();
    const int64_t block = attributes.block;
    Move move;
    move.Append(out.rows(), block * in.w * in.c);
    move.Append(out.w, block * in.c);
    const bool depth_first = attributes.order == PixelBlockOrder::CRD;
    if (depth_first) move.Append(in.c, 1);
    move.Append(block, in.w * in.c);
    move.Append(block, in.c);
    if (!depth_first) move.Append(in.c, 1);
    AddMove(move, context);
    return MaceStatus();
  }
  bool TakesIntegers() const override { return true; }
};

MACE_REGISTER_OP(SpaceToDepth, GPU, SpaceToDepthOpencl);

}  // namespace
}  // namespace mace
