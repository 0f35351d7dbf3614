// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Functions of bytes on the DSP, and numbers that kernels multiply by.

#ifndef MACE_OPS_HEXAGON_OP_TABLES_H_
#define MACE_OPS_HEXAGON_OP_TABLES_H_

#include <cstdint>

#include "mace/core/base/status.h"
#include "mace/ops/hexagon_op/hexagon_op.h"

namespace mace {

// UNSUPPORTED unless sums can be multiplied by that number, which comes from
// scales.
MaceStatus CheckHexagonMultiplier(float multiplier);

// Where the scales or zero points of input 0 and output 0 differ, adds an
// instruction that changes those of the output's bytes, which are as yet the
// input's:
//
//   y = clamp(round(float32(q - zx) * (sx / sy)) + zy)
MaceStatus AddRescaling(HexagonPlanContext *context);

}  // namespace mace

#endif  // MACE_OPS_HEXAGON_OP_TABLES_H_
