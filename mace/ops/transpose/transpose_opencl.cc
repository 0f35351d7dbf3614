// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/opencl_op/move.h"
#include "mace/ops/transpose/transpose_schema.h"

namespace mace {
namespace {

class TransposeOpencl final : public OpenclOp {
 public:
  NumberRange Range(const OpenclPlanContext &) const override {
    return NumberRange::Of(NumberRange::Result::kElements);
  }
  MaceStatus Plan(OpenclPlanContext *context) const override {
    const Shape &shape = context->input(kTransposeInputInput)->shape;
    Move move;
    for (const int64_t axis :
         context->AttributesAs<TransposeAttributes>().perm) {
      move.Append(shape[axis], shape.Elements(axis + 1, shape.rank()));
    }
    AddMove(move, context);
    return MaceStatus();
  }
  bool TakesIntegers() const override { return true; }
};

MACE_REGISTER_OP(Transpose, GPU, TransposeOpencl);

}  // namespace
}  // namespace mace
