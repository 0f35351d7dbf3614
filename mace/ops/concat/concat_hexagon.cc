// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/concat/concat_schema.h"
#include "mace/ops/hexagon_op/moves.h"

namespace mace {
namespace {

class HexagonConcatOp final : public HexagonOp {
 public:
  MaceStatus Plan(HexagonPlanContext *context) const override {
    const Shape &shape = context->output(0)->shape;
    const auto axis = static_cast<size_t>(
        shape.NormalizeAxis(context->AttributesAs<ConcatAttributes>().axis));
    int64_t first = 0;
    for (size_t i = 0; i < context->input_count(); ++i) {
      const Shape &part = context->input(i)->shape;
      if (part.Elements() == 0) continue;
      HexagonMove move(part, shape);
      move.Skip({axis, 0}, {axis, first});
      for (size_t j = 0; j < shape.rank(); ++j) move.Loop(part[j], j, j);
      MACE_RETURN_IF_ERROR(
          move.Add(context->Input(i), context->Output(0), context));
      first += part[axis];
    }
    return MaceStatus();
  }
  bool TakesWords() const override { return true; }
};

MACE_REGISTER_OP(Concat, HEXAGON, HexagonConcatOp);

}  // namespace
}  // namespace mace
