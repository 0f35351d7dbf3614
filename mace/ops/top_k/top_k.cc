// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/top_k/top_k_schema.h"

namespace mace {

MaceStatus InferTopKShapes(const TopKAttributes &attributes,
                           ShapeContext *context) {
  const Tensor *input = context->input(kTopKInputInput);
  Shape shape = input->shape;
  const int64_t axis = shape.NormalizeAxis(attributes.axis);
  if (axis < 0) {
    return InvalidArgs("axis ", attributes.axis,
                       " is out of range for an input of shape ",
                       shape.ToString());
  }
  if (attributes.k > shape[axis] || shape[axis] > INT32_MAX) {
    return InvalidArgs("k is ", attributes.k, ", but axis ", axis, " of ",
                       shape.ToString(), " has length ", shape[axis]);
  }
  shape[axis] = attributes.k;
  MACE_RETURN_IF_ERROR(SetOutput(context, 0, shape, input->data_type));
  return SetOutput(context, 1, shape, DataType::kInt32);
}

}  // namespace mace
