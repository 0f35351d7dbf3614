// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/concat/concat_schema.h"

namespace mace {

MaceStatus InferConcatShapes(const ConcatAttributes &attributes,
                             ShapeContext *context) {
  const Tensor *first = context->input(0);
  Shape shape = first->shape;
  const int64_t axis = shape.NormalizeAxis(attributes.axis);
  if (axis < 0) {
    return InvalidArgs("axis ", attributes.axis,
                       " is out of range for inputs of shape ",
                       shape.ToString());
  }
  for (size_t i = 1; i < context->input_count(); ++i) {
    const Tensor *input = context->input(i);
    if (input->data_type != first->data_type) {
      return InvalidArgs("input ", i, " is ", DataTypeName(input->data_type),
                         " but input 0 is ", DataTypeName(first->data_type));
    }
    bool fits = input->shape.rank() == shape.rank();
    for (size_t d = 0; fits && d < shape.rank(); ++d) {
      fits =
          static_cast<int64_t>(d) == axis || input->shape[d] == first->shape[d];
    }
    if (!fits) {
      return InvalidArgs("input ", i, " has the shape ",
                         input->shape.ToString(), ", which does not match ",
                         first->shape.ToString(), " in all axes but ", axis);
    }
    // A tensor has less than 2^40 elements, so this cannot overflow.
    shape[axis] += input->shape[axis];
  }
  return SetOutput(context, 0, shape, first->data_type);
}

}  // namespace mace
