// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The kinds of modes of Eltwise, in the order of their declaration: modes with
// two operands, comparisons of two operands, and modes with one operand.

#ifndef MACE_OPS_ELTWISE_ELTWISE_H_
#define MACE_OPS_ELTWISE_ELTWISE_H_

#include "mace/ops/eltwise/eltwise_schema.h"

namespace mace {

inline bool IsUnary(EltwiseMode mode) { return mode >= EltwiseMode::NEG; }
inline bool IsCompare(EltwiseMode mode) {
  return mode >= EltwiseMode::EQUAL && !IsUnary(mode);
}

}  // namespace mace

#endif  // MACE_OPS_ELTWISE_ELTWISE_H_
