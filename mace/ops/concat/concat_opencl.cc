// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/concat/concat_schema.h"
#include "mace/ops/opencl_op/move.h"

namespace mace {
namespace {

class ConcatOpencl final : public OpenclOp {
 public:
  NumberRange Range(const OpenclPlanContext &) const override {
    return NumberRange::Of(NumberRange::Result::kElements);
  }
  MaceStatus Plan(OpenclPlanContext *context) const override {
    const Shape &shape = context->output(0)->shape;
    const auto axis = static_cast<size_t>(
        shape.NormalizeAxis(context->AttributesAs<ConcatAttributes>().axis));
    std::vector<int64_t> lengths;
    for (size_t i = 0; i < context->input_count(); ++i) {
      lengths.push_back(context->input(i)->shape[axis]);
    }
    AddJoin(lengths, shape.Elements(axis + 1, shape.rank()), context);
    return MaceStatus();
  }
  bool TakesIntegers() const override { return true; }
};

MACE_REGISTER_OP(Concat, GPU, ConcatOpencl);

}  // namespace
}  // namespace mace
