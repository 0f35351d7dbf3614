// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/hexagon_op/moves.h"
#include "mace/ops/identity/identity_schema.h"

namespace mace {

MACE_REGISTER_OP(Identity, HEXAGON, HexagonSameElementsOp);

}  // namespace mace
