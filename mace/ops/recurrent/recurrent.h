// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_OPS_RECURRENT_RECURRENT_H_
#define MACE_OPS_RECURRENT_RECURRENT_H_

#include <cstdint>

#include "mace/ops/op_enums.h"

namespace mace {

// The sizes of a layer whose shapes have been checked.
struct RecurrentSizes {
  int64_t steps = 0;
  int64_t batch = 0;
  int64_t units = 0;
  int64_t gates = 0;
  int64_t directions = 0;
};

inline int64_t RecurrentGates(RecurrentMode mode) {
  if (mode == RecurrentMode::RNN) return 1;
  return mode == RecurrentMode::GRU ? 3 : 4;
}

}  // namespace mace

#endif  // MACE_OPS_RECURRENT_RECURRENT_H_
