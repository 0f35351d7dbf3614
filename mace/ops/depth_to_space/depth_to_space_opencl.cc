// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/depth_to_space/depth_to_space_schema.h"
#include "mace/ops/opencl_op/move.h"

namespace mace {
namespace {

class DepthToSpaceOpencl final : public OpenclOp {
 public:
  NumberRange Range(const OpenclPlanContext &) const override {
    return NumberRange::Of(NumberRange::Result::kElements);
  }
  MaceStatus Plan(OpenclPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<DepthToSpaceAttributes>();
    const GpuDims in = context->InputDims(kDepthToSpaceInputInput);
    const GpuDims out = context->OutputDims();
    const int64_t block = attributes.block;
    // Of the channels: (row of the block, column, channel) or (channel, row,
    // column).
    const bool depth_first = attributes.order == PixelBlockOrder::CRD;
    const int64_t column_step = depth_first ? 1 : out.c;
    Move move;
    move.Append(in.rows(), in.w * in.c);
    move.Append(block, block * column_step);
    move.Append(in.w, in.c);
    move.Append(block, column_step);
    move.Append(out.c, depth_first ? block * block : 1);
    AddMove(move, context);
    return MaceStatus();
  }
  bool TakesIntegers() const override { return true; }
};

MACE_REGISTER_OP(DepthToSpace, GPU, DepthToSpaceOpencl);

}  // namespace
}  // namespace mace
