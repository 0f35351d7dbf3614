// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/shape_rules/fused_activation_rule.h"

namespace mace {

MaceStatus CheckFusedActivation(Activation activation) {
  if (activation != Activation::PRELU) return MaceStatus();
  return InvalidArgs(
      "activation PRELU cannot be fused; use an operator Activation with "
      "slopes");
}

}  // namespace mace
