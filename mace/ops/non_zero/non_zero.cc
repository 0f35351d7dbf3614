// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/non_zero/non_zero_schema.h"

namespace mace {

MaceStatus InferNonZeroShapes(const NonZeroAttributes & /*attributes*/,
                              ShapeContext *context) {
  const Shape &shape = context->input(kNonZeroInputInput)->shape;
  if (shape.rank() == 0) return InvalidArgs("the input has no dimensions");
  const Shape positions = {static_cast<int64_t>(shape.rank()),
                           shape.Elements()};
  if (positions.CheckedElements(INT32_MAX) < 0) {
    return InvalidArgs("an input of shape ", shape.ToString(),
                       " has too many elements");
  }
  MACE_RETURN_IF_ERROR(SetOutput(context, 0, positions, DataType::kInt32));
  return SetOutput(context, 1, {1}, DataType::kInt32);
}

}  // namespace mace
