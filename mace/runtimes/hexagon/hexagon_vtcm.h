// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// What of a program is in VTCM, the memory that vectors of the DSP reach
// soonest: copies of the weights that a convolution reads again for each tile,
// while it runs, and tensors that only vectors read. Pixels that convolutions
// read are not: those go to scalar registers, whose loads from VTCM are slow.

#ifndef MACE_RUNTIMES_HEXAGON_HEXAGON_VTCM_H_
#define MACE_RUNTIMES_HEXAGON_HEXAGON_VTCM_H_

#include <cstddef>

#include "mace/core/base/status.h"
#include "mace/runtimes/hexagon/hexagon_plan.h"

namespace mace {

// Gives places in the area kFast, of `bytes` bytes, to what is read most for
// each byte, as far as it fits, and sets plan->fast_bytes. It is called before
// PlaceTensors, which places the other tensors.
MaceStatus PlaceInVtcm(HexagonPlan *plan, size_t bytes);

// Whether an instruction reads a copy of its weights there.
bool CopiesWeights(const HexagonInstruction &instruction);

}  // namespace mace

#endif  // MACE_RUNTIMES_HEXAGON_HEXAGON_VTCM_H_
