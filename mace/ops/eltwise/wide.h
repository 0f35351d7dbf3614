// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Arithmetic of int32 that stands for integers of 64 bits.

#ifndef MACE_OPS_ELTWISE_WIDE_H_
#define MACE_OPS_ELTWISE_WIDE_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/eltwise/eltwise.h"

namespace mace {

// Whether int32 cannot hold a result. A pair of operands without a result
// counts as one that can be held.
bool Exceeds(eltwise::Binary op,
             const eltwise::Rows &rows,
             const int32_t *a,
             const int32_t *b);
bool Exceeds(eltwise::Unary op, const int32_t *x, size_t n);

}  // namespace mace

#endif  // MACE_OPS_ELTWISE_WIDE_H_
