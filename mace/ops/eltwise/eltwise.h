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

// The mode of integers that stand for numbers, which devices name alike; a
// difference is a sum. False if there is none.
template <typename Quantized>
bool FindQuantizedMode(EltwiseMode mode, Quantized *to) {
  switch (mode) {
    case EltwiseMode::ADD:
    case EltwiseMode::SUB:
      *to = Quantized::kSum;
      return true;
    case EltwiseMode::MUL:
      *to = Quantized::kProduct;
      return true;
    case EltwiseMode::MAX:
      *to = Quantized::kMax;
      return true;
    case EltwiseMode::MIN:
      *to = Quantized::kMin;
      return true;
    default:
      return false;
  }
}

}  // namespace mace

#endif  // MACE_OPS_ELTWISE_ELTWISE_H_
