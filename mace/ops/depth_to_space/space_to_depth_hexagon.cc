// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/depth_to_space/space_to_depth_schema.h"
#include "mace/ops/hexagon_op/moves.h"

namespace mace {
namespace {

class HexagonSpaceToDepthOp final : public HexagonOp {
 public:
  MaceStatus Plan(HexagonPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<SpaceToDepthAttributes>();
    const Shape &in = context->input(kSpaceToDepthInputInput)->shape;
    const Shape &out = context->output(0)->shape;
    const int64_t block = attributes.block;
    const bool depth_first = attributes.order == PixelBlockOrder::CRD;
    const int64_t column_step = depth_first ? 1 : in[3];
    HexagonMove move(in, out);
    move.Loop(out[0], 0, 0);
    move.Loop(out[1], {1, block}, {1, 1});
    move.Loop(block, {1, 1}, {3, block * column_step});
    move.Loop(block, {2, 1}, {3, column_step});
    move.Loop(out[2], {2, block}, {2, 1});
    move.Loop(in[3], {3, 1}, {3, depth_first ? block * block : 1});
    return move.Add(context->Input(kSpaceToDepthInputInput), context->Output(0),
                    context);
  }
  bool TakesWords() const override { return true; }
};

MACE_REGISTER_OP(SpaceToDepth, HEXAGON, HexagonSpaceToDepthOp);

}  // namespace
}  // namespace mace
