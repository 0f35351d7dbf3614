// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/gather_elements/gather_elements_schema.h"

namespace mace {

MaceStatus InferGatherElementsShapes(const GatherElementsAttributes &attributes,
                                     ShapeContext *context) {
  const Shape &params = context->input(kGatherElementsParamsInput)->shape;
  const Shape &indices = context->input(kGatherElementsIndicesInput)->shape;
  const int64_t axis = params.NormalizeAxis(attributes.axis);
  if (axis < 0) {
    return InvalidArgs("axis ", attributes.axis,
                       " is out of range for params of shape ",
                       params.ToString());
  }
  bool fits = indices.rank() == params.rank();
  for (size_t i = 0; fits && i < params.rank(); ++i) {
    fits = static_cast<int64_t>(i) == axis || indices[i] <= params[i];
  }
  if (!fits) {
    return InvalidArgs("indices of shape ", indices.ToString(),
                       " do not fit params of shape ", params.ToString(),
                       ": they must have the same rank, and no dimension but ",
                       axis, " may be longer");
  }
  return SetOutput(context, 0, indices,
                   context->input(kGatherElementsParamsInput)->data_type);
}

}  // namespace mace
