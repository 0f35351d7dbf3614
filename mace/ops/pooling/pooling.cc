// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/pooling/pooling.h"

namespace mace {

MaceStatus InferPoolingShapes(const PoolingAttributes &attributes,
                              ShapeContext *context) {
  const Tensor *input = context->input(kPoolingInputInput);
  const Shape &shape = input->shape;
  if (shape.rank() != 4) {
    return InvalidArgs("expects [N, H, W, C], not ", shape.ToString());
  }
  MACE_ASSIGN_OR_RETURN(const WindowGeometry geometry,
                        PoolingWindow(attributes, shape));
  return SetOutput(
      context, 0,
      {shape[0], geometry.axis[0].output, geometry.axis[1].output, shape[3]},
      input->data_type);
}

}  // namespace mace
