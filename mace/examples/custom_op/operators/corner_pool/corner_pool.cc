// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/corner_pool/corner_pool_schema.h"

namespace mace {

MaceStatus InferCornerPoolShapes(const CornerPoolAttributes &attributes,
                                 ShapeContext *context) {
  const Tensor *input = context->input(kCornerPoolInputInput);
  if (input->shape.NormalizeAxis(attributes.axis) < 0) {
    return InvalidArgs("axis ", attributes.axis,
                       " is out of range for an input of shape ",
                       input->shape.ToString());
  }
  return SetOutput(context, 0, input->shape, input->data_type);
}

}  // namespace mace
