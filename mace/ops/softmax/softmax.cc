// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/softmax/softmax_schema.h"

namespace mace {

MaceStatus InferSoftmaxShapes(const SoftmaxAttributes &attributes,
                              ShapeContext *context) {
  const Tensor *input = context->input(kSoftmaxInputInput);
  const int64_t axis = input->shape.NormalizeAxis(attributes.axis);
  if (axis < 0) {
    return InvalidArgs("axis ", attributes.axis,
                       " is out of range for an input of shape ",
                       input->shape.ToString());
  }
  return SetOutput(context, 0, input->shape, input->data_type);
}

}  // namespace mace
