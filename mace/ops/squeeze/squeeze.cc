// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/squeeze/squeeze_schema.h"

#include "mace/ops/cpu_op/shape_only_op.h"

namespace mace {

namespace {

class SqueezeOp final : public ShapeOnlyOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    return attributes_.Parse(context->def());
  }

 protected:
  MaceStatus OutputShape(ShapeContext *context, Shape *shape) const override {
    const Tensor *input = context->input(kSqueezeInputInput);
    bool drop[Shape::kMaxRank] = {};
    for (const int64_t given : attributes_.axes) {
      const int64_t axis = input->shape.NormalizeAxis(given);
      if (axis < 0 || input->shape[axis] != 1) {
        return Invalid("axis ", given,
                       " to remove is not a dimension of length 1 of ",
                       input->shape.ToString());
      }
      drop[axis] = true;
    }
    for (size_t i = 0; i < input->shape.rank(); ++i) {
      const bool all = attributes_.axes.empty() && input->shape[i] == 1;
      if (!drop[i] && !all) shape->Append(input->shape[i]);
    }
    return MaceStatus();
  }

 private:
  SqueezeAttributes attributes_;
};

}  // namespace

MACE_REGISTER_OP(Squeeze, CPU, SqueezeOp);

}  // namespace mace
