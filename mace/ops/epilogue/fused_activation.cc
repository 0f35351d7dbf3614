// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/epilogue/fused_activation.h"

namespace mace {

Result<FusedActivation> ResolveActivation(const std::string &op_name,
                                          Activation activation,
                                          float limit) {
  FusedActivation fused;
  switch (activation) {
    case Activation::NONE:
      return fused;
    case Activation::RELU:
      fused.clamp = true;
      fused.high = std::numeric_limits<float>::infinity();
      return fused;
    case Activation::RELUX:
      // Also catches NaN.
      if (!(limit >= 0.0f)) {
        return InvalidArgs("operator '", op_name,
                           "': activation_limit of RELUX is ", limit,
                           "; it must be 0 or more");
      }
      fused.clamp = true;
      fused.high = limit;
      return fused;
    default:
      break;
  }
  return Unsupported(
      "operator '", op_name, "': activation ",
      kActivationNames[static_cast<size_t>(activation)],
      " cannot be fused on CPU; use NONE, RELU or RELUX and a separate "
      "Activation operator");
}

}  // namespace mace
