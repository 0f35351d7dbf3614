// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/top_k/top_k_schema.h"

namespace mace {
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

}  // namespace mace
