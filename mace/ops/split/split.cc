// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/split/split_schema.h"

namespace mace {
namespace {

MaceStatus CheckSizes(AttributeList<int64_t> sizes,
                      const Shape &shape,
                      int64_t axis,
                      int64_t parts) {
  if (static_cast<int64_t>(sizes.size()) != parts) {
    return InvalidArgs("has ", parts, " outputs but ", sizes.size(), " sizes");
  }
  int64_t left = shape[axis];
  for (const int64_t part : sizes) {
    if (part > left) {
      left = -1;
      break;
    }
    left -= part;
  }
  if (left != 0) {
    return InvalidArgs("the sizes do not add up to dimension ", axis, " of ",
                       shape.ToString());
  }
  return MaceStatus();
}

}  // namespace

MaceStatus InferSplitShapes(const SplitAttributes &attributes,
                            ShapeContext *context) {
  const Tensor *input = context->input(kSplitInputInput);
  const int64_t axis = input->shape.NormalizeAxis(attributes.axis);
  if (axis < 0) {
    return InvalidArgs("axis ", attributes.axis,
                       " is out of range for an input of shape ",
                       input->shape.ToString());
  }
  const int64_t length = input->shape[axis];
  const auto parts = static_cast<int64_t>(context->output_count());
  if (attributes.sizes.empty()) {
    if (length % parts != 0) {
      return InvalidArgs("dimension ", axis, " of ", input->shape.ToString(),
                         " cannot be cut into ", parts, " equal parts");
    }
  } else {
    MACE_RETURN_IF_ERROR(
        CheckSizes(attributes.sizes, input->shape, axis, parts));
  }
  for (int64_t i = 0; i < parts; ++i) {
    Shape shape = input->shape;
    shape[axis] =
        attributes.sizes.empty() ? length / parts : attributes.sizes[i];
    MACE_RETURN_IF_ERROR(
        SetOutput(context, static_cast<size_t>(i), shape, input->data_type));
  }
  return MaceStatus();
}

}  // namespace mace
