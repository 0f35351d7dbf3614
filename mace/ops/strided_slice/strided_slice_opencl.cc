// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/opencl_op/move.h"
#include "mace/ops/strided_slice/strided_slice.h"

namespace mace {
namespace {

class StridedSliceOpencl final : public OpenclOp {
 public:
  NumberRange Range(const OpenclPlanContext &) const override {
    return NumberRange::Of(NumberRange::Result::kElements);
  }
  MaceStatus Plan(OpenclPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<StridedSliceAttributes>();
    const Shape &shape = context->input(kStridedSliceInputInput)->shape;
    Cut cuts[Shape::kMaxRank];
    FindCuts(attributes, shape, cuts);
    bool shrink[Shape::kMaxRank] = {};
    for (const int64_t axis : attributes.shrink_axes) shrink[axis] = true;
    Move move;
    for (size_t i = 0; i < shape.rank(); ++i) {
      const int64_t step = shape.Elements(i + 1, shape.rank());
      move.offset += cuts[i].begin * step;
      if (!shrink[i]) move.Append(cuts[i].length, cuts[i].stride * step);
    }
    AddMove(move, context);
    return MaceStatus();
  }
  bool TakesIntegers() const override { return true; }
};

MACE_REGISTER_OP(StridedSlice, GPU, StridedSliceOpencl);

}  // namespace
}  // namespace mace
