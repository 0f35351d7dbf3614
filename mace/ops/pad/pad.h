// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_OPS_PAD_PAD_H_
#define MACE_OPS_PAD_PAD_H_

#include <cstdint>

#include "mace/ops/pad/pad_schema.h"

namespace mace {

// The constant of a tensor of int32: rounded towards 0, and limited.
inline int32_t IntegerFill(float value) {
  const float low = -2147483648.0f;
  return value <= low    ? INT32_MIN
         : value >= -low ? INT32_MAX
                         : static_cast<int32_t>(value);
}

}  // namespace mace

#endif  // MACE_OPS_PAD_PAD_H_
