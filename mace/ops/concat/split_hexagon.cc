// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/concat/split_schema.h"
#include "mace/ops/hexagon_op/moves.h"

namespace mace {
namespace {

class HexagonSplitOp final : public HexagonOp {
 public:
  MaceStatus Plan(HexagonPlanContext *context) const override {
    const Shape &shape = context->input(kSplitInputInput)->shape;
    const auto axis = static_cast<size_t>(
        shape.NormalizeAxis(context->AttributesAs<SplitAttributes>().axis));
    int64_t first = 0;
    for (size_t i = 0; i < context->output_count(); ++i) {
      const Shape &part = context->output(i)->shape;
      HexagonMove move(shape, part);
      move.Skip({axis, first}, {axis, 0});
      for (size_t j = 0; j < shape.rank(); ++j) move.Loop(part[j], j, j);
      MACE_RETURN_IF_ERROR(move.Add(context->Input(kSplitInputInput),
                                    context->Output(i), context));
      first += part[axis];
    }
    return MaceStatus();
  }
  bool TakesWords() const override { return true; }
};

MACE_REGISTER_OP(Split, HEXAGON, HexagonSplitOp);

}  // namespace
}  // namespace mace
