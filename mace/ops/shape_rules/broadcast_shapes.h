// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_OPS_SHAPE_RULES_BROADCAST_SHAPES_H_
#define MACE_OPS_SHAPE_RULES_BROADCAST_SHAPES_H_

#include "mace/core/base/shape.h"

namespace mace {

// Broadcasts two shapes like NumPy. Returns false if they do not fit.
bool BroadcastShapes(const Shape &a, const Shape &b, Shape *output);

// The shape of the matrix product of [..., M, K] and [..., K, N], whose other
// dimensions broadcast; the last two dimensions of a transposed operand are
// swapped. Returns false if the operands cannot be multiplied.
bool MatMulShape(const Shape &a,
                 const Shape &b,
                 bool transpose_a,
                 bool transpose_b,
                 Shape *output);

}  // namespace mace

#endif  // MACE_OPS_SHAPE_RULES_BROADCAST_SHAPES_H_
