// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/hexagon_op/moves.h"
#include "mace/ops/squeeze/squeeze_schema.h"

namespace mace {

MACE_REGISTER_OP(Squeeze, HEXAGON, HexagonSameElementsOp);

}  // namespace mace
