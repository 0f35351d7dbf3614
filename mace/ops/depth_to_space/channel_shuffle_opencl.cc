// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/depth_to_space/channel_shuffle_schema.h"
#include "mace/ops/opencl_op/move.h"

namespace mace {
namespace {

class ChannelShuffleOpencl final : public OpenclOp {
 public:
  NumberRange Range(const OpenclPlanContext &) const override {
    return NumberRange::Of(NumberRange::Result::kElements);
  }
  MaceStatus Plan(OpenclPlanContext *context) const override {
    const GpuDims dims = context->OutputDims();
    const int64_t groups =
        context->AttributesAs<ChannelShuffleAttributes>().groups;
    Move move;
    move.Append(dims.pixels(), dims.c);
    move.Append(dims.c / groups, 1);
    move.Append(groups, dims.c / groups);
    AddMove(move, context);
    return MaceStatus();
  }
};

MACE_REGISTER_OP(ChannelShuffle, GPU, ChannelShuffleOpencl);

}  // namespace
}  // namespace mace
