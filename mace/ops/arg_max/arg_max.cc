// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/arg_max/arg_max_schema.h"

namespace mace {

MaceStatus InferArgMaxShapes(const ArgMaxAttributes &attributes,
                             ShapeContext *context) {
  const Tensor *input = context->input(kArgMaxInputInput);
  Shape shape = input->shape;
  const auto rank = static_cast<int64_t>(shape.rank());
  const int64_t axis = shape.NormalizeAxis(attributes.axis);
  if (axis < 0) {
    return InvalidArgs("axis ", attributes.axis, " is not within [", -rank,
                       ", ", rank, ") for an input of shape ",
                       shape.ToString());
  }
  if (shape[axis] == 0 || shape[axis] > INT32_MAX) {
    return InvalidArgs("axis ", attributes.axis, " of ", shape.ToString(),
                       " has length ", shape[axis], "; 1 to ", INT32_MAX,
                       " are supported");
  }
  shape[axis] = 1;
  return SetOutput(context, 0, shape, DataType::kInt32);
}

}  // namespace mace
