// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/hexagon_op/moves.h"
#include "mace/ops/reshape/reshape_schema.h"

namespace mace {

MACE_REGISTER_OP(Reshape, HEXAGON, HexagonSameElementsOp);

}  // namespace mace
