// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/squeeze/squeeze_schema.h"

namespace mace {

MaceStatus InferSqueezeShapes(const SqueezeAttributes &attributes,
                              ShapeContext *context) {
  const Tensor *input = context->input(kSqueezeInputInput);
  Shape shape;
  bool drop[Shape::kMaxRank] = {};
  for (const int64_t given : attributes.axes) {
    const int64_t axis = input->shape.NormalizeAxis(given);
    if (axis < 0 || input->shape[axis] != 1) {
      return InvalidArgs(
          "axis ", given,
          " cannot be removed: it is not an axis of length 1 of ",
          input->shape.ToString());
    }
    drop[axis] = true;
  }
  for (size_t i = 0; i < input->shape.rank(); ++i) {
    const bool all = attributes.axes.empty() && input->shape[i] == 1;
    if (!drop[i] && !all) shape.Append(input->shape[i]);
  }
  return SetOutput(context, 0, shape, input->data_type);
}

}  // namespace mace
