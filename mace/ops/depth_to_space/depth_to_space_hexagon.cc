// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/depth_to_space/depth_to_space_schema.h"
#include "mace/ops/hexagon_op/moves.h"

namespace mace {
namespace {

class HexagonDepthToSpaceOp final : public HexagonOp {
 public:
  MaceStatus Plan(HexagonPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<DepthToSpaceAttributes>();
    const Shape &in = context->input(kDepthToSpaceInputInput)->shape;
    const Shape &out = context->output(0)->shape;
    const int64_t block = attributes.block;
    const bool depth_first = attributes.order == PixelBlockOrder::CRD;
    const int64_t column_step = depth_first ? 1 : out[3];
    HexagonMove move(in, out);
    move.Loop(in[0], 0, 0);
    move.Loop(in[1], {1, 1}, {1, block});
    move.Loop(block, {3, block * column_step}, {1, 1});
    move.Loop(block, {3, column_step}, {2, 1});
    move.Loop(in[2], {2, 1}, {2, block});
    move.Loop(out[3], {3, depth_first ? block * block : 1}, {3, 1});
    return move.Add(context->Input(kDepthToSpaceInputInput), context->Output(0),
                    context);
  }
  bool TakesWords() const override { return true; }
};

MACE_REGISTER_OP(DepthToSpace, HEXAGON, HexagonDepthToSpaceOp);

}  // namespace
}  // namespace mace
