// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "mace/ops/trim/trim_schema.h"

namespace mace {

MaceStatus InferTrimShapes(const TrimAttributes &attributes,
                           ShapeContext *context) {
  const Tensor *input = context->input(kTrimInputInput);
  const Tensor *count = context->input(kTrimCountInput);
  const int64_t axis = input->shape.NormalizeAxis(attributes.axis);
  if (axis < 0) {
    return InvalidArgs("axis ", attributes.axis,
                       " is out of range for an input of shape ",
                       input->shape.ToString());
  }
  if (count->elements() != 1) {
    return InvalidArgs("count has the shape ", count->shape.ToString(),
                       "; it takes one element");
  }
  Shape shape = input->shape;
  if (count->data != nullptr) {
    int64_t &kept = shape[static_cast<size_t>(axis)];
    kept = std::clamp<int64_t>(*count->As<int32_t>(), 0, kept);
  }
  return SetOutput(context, 0, shape, input->data_type);
}

}  // namespace mace
