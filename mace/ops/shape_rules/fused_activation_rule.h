// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_OPS_SHAPE_RULES_FUSED_ACTIVATION_RULE_H_
#define MACE_OPS_SHAPE_RULES_FUSED_ACTIVATION_RULE_H_

#include "mace/core/base/status.h"
#include "mace/ops/op_enums.h"

namespace mace {

// For operators that apply an activation to their result. INVALID_ARGS for
// PRELU, whose slopes only the operator Activation has.
MaceStatus CheckFusedActivation(Activation activation);

}  // namespace mace

#endif  // MACE_OPS_SHAPE_RULES_FUSED_ACTIVATION_RULE_H_
