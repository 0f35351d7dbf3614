// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/gather/gather_schema.h"

namespace mace {

MaceStatus InferGatherShapes(const GatherAttributes &attributes,
                             ShapeContext *context) {
  const Tensor *params = context->input(kGatherParamsInput);
  const Tensor *indices = context->input(kGatherIndicesInput);
  const int64_t axis = params->shape.NormalizeAxis(attributes.axis);
  if (axis < 0) {
    return InvalidArgs("axis ", attributes.axis,
                       " is out of range for params of shape ",
                       params->shape.ToString());
  }
  const size_t rank = params->shape.rank() - 1 + indices->shape.rank();
  if (rank > Shape::kMaxRank) {
    return InvalidArgs("the output would have ", rank, " dimensions; at most ",
                       Shape::kMaxRank, " are supported");
  }
  Shape shape(params->shape.begin(), static_cast<size_t>(axis));
  for (const int64_t dim : indices->shape) shape.Append(dim);
  for (size_t i = static_cast<size_t>(axis) + 1; i < params->shape.rank();
       ++i) {
    shape.Append(params->shape[i]);
  }
  return SetOutput(context, 0, shape, params->data_type);
}

}  // namespace mace
