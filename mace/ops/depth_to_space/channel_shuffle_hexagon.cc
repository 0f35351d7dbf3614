// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/depth_to_space/channel_shuffle_schema.h"
#include "mace/ops/hexagon_op/moves.h"

namespace mace {
namespace {

class HexagonChannelShuffleOp final : public HexagonOp {
 public:
  MaceStatus Plan(HexagonPlanContext *context) const override {
    const int64_t groups =
        context->AttributesAs<ChannelShuffleAttributes>().groups;
    const Shape &shape = context->input(kChannelShuffleInputInput)->shape;
    const int64_t in_group = shape[3] / groups;
    HexagonMove move(shape, shape);
    for (size_t i = 0; i < 3; ++i) move.Loop(shape[i], i, i);
    move.Loop(groups, {3, in_group}, {3, 1});
    move.Loop(in_group, {3, 1}, {3, groups});
    return move.Add(context->Input(kChannelShuffleInputInput),
                    context->Output(0), context);
  }
};

MACE_REGISTER_OP(ChannelShuffle, HEXAGON, HexagonChannelShuffleOp);

}  // namespace
}  // namespace mace
