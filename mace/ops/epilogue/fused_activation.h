// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The activation that an operator applies to its own result.

#ifndef MACE_OPS_EPILOGUE_FUSED_ACTIVATION_H_
#define MACE_OPS_EPILOGUE_FUSED_ACTIVATION_H_

#include <limits>
#include <string>

#include "mace/core/status.h"
#include "mace/ops/op_enums.h"

namespace mace {

// A clamp is applied by the kernel that makes the result, in registers.
struct FusedActivation {
  bool clamp = false;
  float low = 0.0f;
  float high = 0.0f;
};

// UNSUPPORTED or INVALID_ARGS, naming the operator, for what it is not.
Result<FusedActivation> ResolveActivation(const std::string &op_name,
                                          Activation activation,
                                          float limit);

template <typename Attributes>
Result<FusedActivation> ResolveActivation(const std::string &op_name,
                                          const Attributes &attributes) {
  return ResolveActivation(op_name, attributes.activation,
                           attributes.activation_limit);
}

}  // namespace mace

#endif  // MACE_OPS_EPILOGUE_FUSED_ACTIVATION_H_
