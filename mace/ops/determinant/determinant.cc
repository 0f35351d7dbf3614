// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/determinant/determinant_schema.h"

namespace mace {

MaceStatus InferDeterminantShapes(const DeterminantAttributes & /*attributes*/,
                                  ShapeContext *context) {
  const Tensor *input = context->input(kDeterminantInputInput);
  const Shape &shape = input->shape;
  const size_t rank = shape.rank();
  if (rank < 2 || shape[rank - 1] != shape[rank - 2]) {
    return InvalidArgs("an input of shape ", shape.ToString(),
                       " has no square matrices");
  }
  return SetOutput(context, 0, Shape(shape.begin(), rank - 2),
                   input->data_type);
}

}  // namespace mace
