// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/activation/activation_schema.h"
#include "mace/ops/activation/trigonometric_schema.h"

namespace mace {

MaceStatus InferActivationShapes(const ActivationAttributes &attributes,
                                 ShapeContext *context) {
  const Tensor *input = context->input(kActivationInputInput);
  const Tensor *slope = context->input(kActivationSlopeInput);
  const bool prelu = attributes.activation == Activation::PRELU;
  if (prelu != (slope != nullptr)) {
    return InvalidArgs(prelu ? "PRELU needs the input slope"
                             : "only PRELU takes the input slope");
  }
  if (prelu) {
    // Null for an input without channels.
    if (slope->shape.rank() != 1) {
      return InvalidArgs("slope has the shape ", slope->shape.ToString(),
                         ", not [C] or [1]");
    }
    if (slope->elements() != 1 && slope->shape[0] != input->shape.back()) {
      return InvalidArgs("slope has ", slope->shape[0],
                         " values, which is neither 1 nor the innermost "
                         "dimension of the input's shape ",
                         input->shape.ToString());
    }
  }
  return SetOutput(context, 0, input->shape, input->data_type);
}

MaceStatus InferTrigonometricShapes(const TrigonometricAttributes &attributes,
                                    ShapeContext *context) {
  const Tensor *input = context->input(kTrigonometricInputInput);
  return SetOutput(context, 0, input->shape, input->data_type);
}

}  // namespace mace
