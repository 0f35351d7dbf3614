// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/identity/identity_schema.h"

namespace mace {

MaceStatus InferIdentityShapes(const IdentityAttributes & /*attributes*/,
                               ShapeContext *context) {
  const Tensor *input = context->input(kIdentityInputInput);
  return SetOutput(context, 0, input->shape, input->data_type);
}

}  // namespace mace
