// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/expand_dims/expand_dims_schema.h"
#include "mace/ops/hexagon_op/moves.h"

namespace mace {

MACE_REGISTER_OP(ExpandDims, HEXAGON, HexagonSameElementsOp);

}  // namespace mace
