// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/shape/shape_schema.h"

namespace mace {

MaceStatus InferShapeShapes(const ShapeAttributes & /*attributes*/,
                            ShapeContext *context) {
  const Shape &shape = context->input(kShapeInputInput)->shape;
  for (const int64_t dim : shape) {
    if (dim > INT32_MAX) {
      return InvalidArgs("dimension ", dim,
                         " of the input does not fit into "
                         "the int32 output");
    }
  }
  return SetOutput(context, 0, {static_cast<int64_t>(shape.rank())},
                   DataType::kInt32);
}

}  // namespace mace
