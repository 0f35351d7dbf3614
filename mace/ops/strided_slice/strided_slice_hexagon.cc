// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/hexagon_op/moves.h"
#include "mace/ops/strided_slice/strided_slice.h"

namespace mace {
namespace {

class HexagonStridedSliceOp final : public HexagonOp {
 public:
  MaceStatus Plan(HexagonPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<StridedSliceAttributes>();
    const Shape &shape = context->input(kStridedSliceInputInput)->shape;
    Cut cuts[Shape::kMaxRank];
    FindCuts(attributes, shape, cuts);
    bool shrink[Shape::kMaxRank] = {};
    for (const int64_t axis : attributes.shrink_axes) shrink[axis] = true;
    HexagonMove move(shape, context->output(0)->shape);
    size_t to = 0;
    for (size_t i = 0; i < shape.rank(); ++i) {
      move.Skip({i, cuts[i].begin}, {0, 0});
      if (shrink[i]) continue;
      move.Loop(cuts[i].length, {i, cuts[i].stride}, {to++, 1});
    }
    return move.Add(context->Input(kStridedSliceInputInput), context->Output(0),
                    context);
  }
  bool TakesWords() const override { return true; }
};

MACE_REGISTER_OP(StridedSlice, HEXAGON, HexagonStridedSliceOp);

}  // namespace
}  // namespace mace
