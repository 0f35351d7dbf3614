// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/stack/stack_schema.h"

namespace mace {

MaceStatus InferStackShapes(const StackAttributes &attributes,
                            ShapeContext *context) {
  const Tensor *first = context->input(0);
  for (size_t i = 1; i < context->input_count(); ++i) {
    const Tensor *input = context->input(i);
    if (input->shape != first->shape || input->data_type != first->data_type) {
      return InvalidArgs("input ", i, " is ", DataTypeName(input->data_type),
                         input->shape.ToString(), " but input 0 is ",
                         DataTypeName(first->data_type),
                         first->shape.ToString());
    }
  }
  const auto rank = static_cast<int64_t>(first->shape.rank()) + 1;
  if (rank > static_cast<int64_t>(Shape::kMaxRank)) {
    return InvalidArgs("the output would have ", rank, " dimensions; at most ",
                       Shape::kMaxRank, " are supported");
  }
  if (attributes.axis < -rank || attributes.axis >= rank) {
    return InvalidArgs("axis ", attributes.axis,
                       " is out of range for an output of ", rank,
                       " dimensions");
  }
  const auto axis = static_cast<size_t>(
      attributes.axis < 0 ? attributes.axis + rank : attributes.axis);
  Shape shape;
  for (size_t i = 0; i < static_cast<size_t>(rank); ++i) {
    if (i == axis) {
      shape.Append(static_cast<int64_t>(context->input_count()));
    } else {
      shape.Append(first->shape[i < axis ? i : i - 1]);
    }
  }
  return SetOutput(context, 0, shape, first->data_type);
}

}  // namespace mace
