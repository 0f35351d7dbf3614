// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/layer_norm/layer_norm_schema.h"

namespace mace {

namespace {

// Checks the scale or the offset, which may be null.
MaceStatus Check(const char *name, const Tensor *tensor, const Shape &row) {
  if (tensor == nullptr || tensor->shape == row) return MaceStatus();
  return InvalidArgs(name, " has the shape ", tensor->shape.ToString(),
                     ", not that of a row of the input, ", row.ToString());
}

}  // namespace

MaceStatus InferLayerNormShapes(const LayerNormAttributes & /*attributes*/,
                                ShapeContext *context) {
  const Tensor *input = context->input(kLayerNormInputInput);
  const Shape &shape = input->shape;
  if (shape.rank() == 0) return InvalidArgs("the input is a scalar");
  const Shape row = {shape.back()};
  MACE_RETURN_IF_ERROR(
      Check("scale", context->input(kLayerNormScaleInput), row));
  MACE_RETURN_IF_ERROR(
      Check("offset", context->input(kLayerNormOffsetInput), row));
  return SetOutput(context, 0, shape, input->data_type);
}

}  // namespace mace
