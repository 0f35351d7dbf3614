// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/size_expression/size_expression_schema.h"

namespace mace {

MaceStatus InferSizeExpressionShapes(const SizeExpressionAttributes &attributes,
                                     ShapeContext *context) {
  for (size_t i = 0; i < context->input_count(); ++i) {
    const Tensor *input = context->input(i);
    if (input->elements() != 1) {
      return InvalidArgs("input ", i, " has the shape ",
                         input->shape.ToString(), "; expected one element");
    }
  }
  return SetOutput(context, 0, Shape(),
                   attributes.whole ? DataType::kInt32 : DataType::kFloat32);
}

}  // namespace mace
