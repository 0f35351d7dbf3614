// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/bitwise/bitwise_schema.h"
#include "mace/ops/shape_rules/broadcast_shapes.h"

namespace mace {

MaceStatus InferBitwiseShapes(const BitwiseAttributes &attributes,
                              ShapeContext *context) {
  const Tensor *a = context->input(kBitwiseAInput);
  const Tensor *b = context->input(kBitwiseBInput);
  const bool unary = attributes.mode == BitwiseMode::NOT;
  if (unary == (b != nullptr)) {
    return InvalidArgs("mode ",
                       kBitwiseModeNames[static_cast<int>(attributes.mode)],
                       " takes ", unary ? "one input" : "two inputs");
  }
  if (b == nullptr) return SetOutput(context, 0, a->shape, a->data_type);
  Shape shape;
  if (!BroadcastShapes(a->shape, b->shape, &shape)) {
    return InvalidArgs("the shapes ", a->shape.ToString(), " and ",
                       b->shape.ToString(), " do not broadcast");
  }
  return SetOutput(context, 0, shape, a->data_type);
}

}  // namespace mace
