// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/search/arg_max_schema.h"
#include "mace/ops/search/non_zero_schema.h"
#include "mace/ops/search/top_k_schema.h"
#include "mace/ops/search/unique_schema.h"

namespace mace {

MaceStatus InferArgMaxShapes(const ArgMaxAttributes &attributes,
                             ShapeContext *context) {
  const Tensor *input = context->input(kArgMaxInputInput);
  Shape shape = input->shape;
  const auto rank = static_cast<int64_t>(shape.rank());
  const int64_t axis = shape.NormalizeAxis(attributes.axis);
  if (axis < 0) {
    return InvalidArgs("axis ", attributes.axis, " is not within [", -rank,
                       ", ", rank, ") for an input of shape ",
                       shape.ToString());
  }
  if (shape[axis] == 0 || shape[axis] > INT32_MAX) {
    return InvalidArgs("axis ", attributes.axis, " of ", shape.ToString(),
                       " has length ", shape[axis], "; 1 to ", INT32_MAX,
                       " are supported");
  }
  shape[axis] = 1;
  return SetOutput(context, 0, shape, DataType::kInt32);
}

namespace {

// How many elements are wanted.
Result<int64_t> Wanted(const TopKAttributes &attributes,
                       const ShapeContext &context) {
  const Tensor *count = context.input(kTopKCountInput);
  if (count == nullptr) return attributes.k;
  if (count->elements() != 1) {
    return InvalidArgs("count has the shape ", count->shape.ToString(),
                       ", not one element");
  }
  if (count->data == nullptr) {
    return Unsupported("the value of the input count ('", count->name,
                       "') is not known before the run");
  }
  const int64_t wanted = *count->As<int32_t>();
  if (wanted < 0) return InvalidArgs("count is ", wanted);
  return wanted;
}

}  // namespace

MaceStatus InferTopKShapes(const TopKAttributes &attributes,
                           ShapeContext *context) {
  const Tensor *input = context->input(kTopKInputInput);
  Shape shape = input->shape;
  const int64_t axis = shape.NormalizeAxis(attributes.axis);
  if (axis < 0) {
    return InvalidArgs("axis ", attributes.axis,
                       " is out of range for an input of shape ",
                       shape.ToString());
  }
  MACE_ASSIGN_OR_RETURN(const int64_t k, Wanted(attributes, *context));
  if (k > shape[axis] || shape[axis] > INT32_MAX) {
    return InvalidArgs("k is ", k, ", but axis ", axis, " of ",
                       shape.ToString(), " has length ", shape[axis]);
  }
  shape[axis] = k;
  MACE_RETURN_IF_ERROR(SetOutput(context, 0, shape, input->data_type));
  return SetOutput(context, 1, shape, DataType::kInt32);
}

MaceStatus InferUniqueShapes(const UniqueAttributes & /*attributes*/,
                             ShapeContext *context) {
  const Tensor *input = context->input(kUniqueInputInput);
  if (input->shape.rank() == 0) {
    return InvalidArgs("the input has no dimensions");
  }
  const int64_t rows = input->shape[0];
  if (rows > INT32_MAX) {
    return InvalidArgs("an input of shape ", input->shape.ToString(),
                       " has too many rows");
  }
  MACE_RETURN_IF_ERROR(SetOutput(context, 0, input->shape, input->data_type));
  for (size_t port = 1; port < 4; ++port) {
    MACE_RETURN_IF_ERROR(SetOutput(context, port, {rows}, DataType::kInt32));
  }
  return SetOutput(context, 4, {1}, DataType::kInt32);
}

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
