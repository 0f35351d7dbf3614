// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/unique/unique_schema.h"

namespace mace {

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

}  // namespace mace
