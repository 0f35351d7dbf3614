// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/concat/concat_schema.h"
#include "mace/ops/concat/split_schema.h"
#include "mace/ops/concat/stack_schema.h"

namespace mace {

MaceStatus InferConcatShapes(const ConcatAttributes &attributes,
                             ShapeContext *context) {
  const Tensor *first = context->input(0);
  Shape shape = first->shape;
  const int64_t axis = shape.NormalizeAxis(attributes.axis);
  if (axis < 0) {
    return InvalidArgs("axis ", attributes.axis,
                       " is out of range for inputs of shape ",
                       shape.ToString());
  }
  for (size_t i = 1; i < context->input_count(); ++i) {
    const Tensor *input = context->input(i);
    if (input->data_type != first->data_type) {
      return InvalidArgs("input ", i, " is ", DataTypeName(input->data_type),
                         " but input 0 is ", DataTypeName(first->data_type));
    }
    bool fits = input->shape.rank() == shape.rank();
    for (size_t d = 0; fits && d < shape.rank(); ++d) {
      fits =
          static_cast<int64_t>(d) == axis || input->shape[d] == first->shape[d];
    }
    if (!fits) {
      return InvalidArgs("input ", i, " has the shape ",
                         input->shape.ToString(), ", which does not match ",
                         first->shape.ToString(), " in all axes but ", axis);
    }
    // A tensor has less than 2^40 elements, so this cannot overflow.
    shape[axis] += input->shape[axis];
  }
  return SetOutput(context, 0, shape, first->data_type);
}

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

MaceStatus InferStackShapes(const StackAttributes &attributes,
                            ShapeContext *context) {
  const Tensor *first = context->input(0);
  for (size_t i = 1; i < context->input_count(); ++i) {
    const Tensor *input = context->input(i);
    if (input->shape != first->shape || input->data_type != first->data_type) {
      return InvalidArgs("input ", i, " is ", DataTypeName(input->data_type),
                         input->shape.ToString(), " but input 0 is ",
                         DataTypeName(first->data_type),
                         first->shape.ToString());
    }
  }
  const auto rank = static_cast<int64_t>(first->shape.rank()) + 1;
  if (rank > static_cast<int64_t>(Shape::kMaxRank)) {
    return InvalidArgs("the output would have ", rank, " dimensions; at most ",
                       Shape::kMaxRank, " are supported");
  }
  if (attributes.axis < -rank || attributes.axis >= rank) {
    return InvalidArgs("axis ", attributes.axis,
                       " is out of range for an output of ", rank,
                       " dimensions");
  }
  const auto axis = static_cast<size_t>(
      attributes.axis < 0 ? attributes.axis + rank : attributes.axis);
  Shape shape;
  for (size_t i = 0; i < static_cast<size_t>(rank); ++i) {
    if (i == axis) {
      shape.Append(static_cast<int64_t>(context->input_count()));
    } else {
      shape.Append(first->shape[i < axis ? i : i - 1]);
    }
  }
  return SetOutput(context, 0, shape, first->data_type);
}

}  // namespace mace
