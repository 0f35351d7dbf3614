// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/shape_rules/broadcast_shapes.h"
#include "mace/ops/where/where_schema.h"

namespace mace {

MaceStatus InferWhereShapes(const WhereAttributes & /*attributes*/,
                            ShapeContext *context) {
  const Shape &condition = context->input(kWhereConditionInput)->shape;
  const Tensor &a = *context->input(kWhereAInput);
  const Tensor &b = *context->input(kWhereBInput);
  if (a.data_type != b.data_type) {
    return InvalidArgs("a is ", DataTypeName(a.data_type), " but b is ",
                       DataTypeName(b.data_type));
  }
  Shape choices;
  Shape output;
  if (!BroadcastShapes(a.shape, b.shape, &choices) ||
      !BroadcastShapes(condition, choices, &output)) {
    return InvalidArgs("the shapes ", condition.ToString(), ", ",
                       a.shape.ToString(), " and ", b.shape.ToString(),
                       " do not broadcast");
  }
  return SetOutput(context, 0, output, a.data_type);
}

}  // namespace mace
