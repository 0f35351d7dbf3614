// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/channel_shuffle/channel_shuffle_schema.h"

namespace mace {

MaceStatus InferChannelShuffleShapes(const ChannelShuffleAttributes &attributes,
                                     ShapeContext *context) {
  const Tensor *input = context->input(kChannelShuffleInputInput);
  if (input->shape.rank() != 4 || input->shape[3] % attributes.groups != 0) {
    return InvalidArgs("expects [N, H, W, C] with C divisible by groups = ",
                       attributes.groups, ", not ", input->shape.ToString());
  }
  return SetOutput(context, 0, input->shape, input->data_type);
}

}  // namespace mace
