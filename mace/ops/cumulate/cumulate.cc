// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/cumulate/cumulate_schema.h"

namespace mace {

MaceStatus InferCumulateShapes(const CumulateAttributes &attributes,
                               ShapeContext *context) {
  const Tensor *input = context->input(kCumulateInputInput);
  if (input->shape.NormalizeAxis(attributes.axis) < 0) {
    return InvalidArgs("axis ", attributes.axis,
                       " is out of range for an input of shape ",
                       input->shape.ToString());
  }
  if (attributes.mode == CumulateMode::LOG_SUM_EXP &&
      input->data_type == DataType::kInt32) {
    return InvalidArgs("LOG_SUM_EXP of integers");
  }
  return SetOutput(context, 0, input->shape, input->data_type);
}

}  // namespace mace
