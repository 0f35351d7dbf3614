// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/cum_sum/cum_sum_schema.h"

namespace mace {

MaceStatus InferCumSumShapes(const CumSumAttributes &attributes,
                             ShapeContext *context) {
  const Tensor *input = context->input(kCumSumInputInput);
  if (input->shape.NormalizeAxis(attributes.axis) < 0) {
    return InvalidArgs("axis ", attributes.axis,
                       " is out of range for an input of shape ",
                       input->shape.ToString());
  }
  return SetOutput(context, 0, input->shape, input->data_type);
}

}  // namespace mace
