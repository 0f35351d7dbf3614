// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/local_response_norm/local_response_norm_schema.h"

namespace mace {

MaceStatus InferLocalResponseNormShapes(
    const LocalResponseNormAttributes & /*attributes*/, ShapeContext *context) {
  const Tensor *input = context->input(kLocalResponseNormInputInput);
  const Shape &shape = input->shape;
  if (shape.rank() != 4) {
    return InvalidArgs("expects [N, H, W, C], not ", shape.ToString());
  }
  return SetOutput(context, 0, shape, input->data_type);
}

}  // namespace mace
