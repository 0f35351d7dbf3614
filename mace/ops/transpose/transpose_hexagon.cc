// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/hexagon_op/moves.h"
#include "mace/ops/transpose/transpose_schema.h"

namespace mace {
namespace {

class HexagonTransposeOp final : public HexagonOp {
 public:
  MaceStatus Plan(HexagonPlanContext *context) const override {
    const auto &perm = context->AttributesAs<TransposeAttributes>().perm;
    const Shape &shape = context->output(0)->shape;
    HexagonMove move(context->input(kTransposeInputInput)->shape, shape);
    size_t axis = 0;
    for (const int64_t from : perm) {
      move.Loop(shape[axis], static_cast<size_t>(from), axis);
      ++axis;
    }
    return move.Add(context->Input(kTransposeInputInput), context->Output(0),
                    context);
  }
  bool TakesWords() const override { return true; }
};

MACE_REGISTER_OP(Transpose, HEXAGON, HexagonTransposeOp);

}  // namespace
}  // namespace mace
