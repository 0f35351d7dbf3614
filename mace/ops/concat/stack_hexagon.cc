// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/concat/stack_schema.h"
#include "mace/ops/hexagon_op/moves.h"

namespace mace {
namespace {

class HexagonStackOp final : public HexagonOp {
 public:
  MaceStatus Plan(HexagonPlanContext *context) const override {
    const Shape &shape = context->output(0)->shape;
    const auto axis = static_cast<size_t>(
        shape.NormalizeAxis(context->AttributesAs<StackAttributes>().axis));
    for (size_t i = 0; i < context->input_count(); ++i) {
      const Shape &part = context->input(i)->shape;
      HexagonMove move(part, shape);
      move.Skip({0, 0}, {axis, static_cast<int64_t>(i)});
      for (size_t j = 0; j < part.rank(); ++j) {
        move.Loop(part[j], j, j < axis ? j : j + 1);
      }
      MACE_RETURN_IF_ERROR(
          move.Add(context->Input(i), context->Output(0), context));
    }
    return MaceStatus();
  }
  bool TakesWords() const override { return true; }
};

MACE_REGISTER_OP(Stack, HEXAGON, HexagonStackOp);

}  // namespace
}  // namespace mace
