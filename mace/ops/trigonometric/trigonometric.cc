// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/trigonometric/trigonometric_schema.h"

namespace mace {

MaceStatus InferTrigonometricShapes(const TrigonometricAttributes &attributes,
                                    ShapeContext *context) {
  const Tensor *input = context->input(kTrigonometricInputInput);
  return SetOutput(context, 0, input->shape, input->data_type);
}

}  // namespace mace
