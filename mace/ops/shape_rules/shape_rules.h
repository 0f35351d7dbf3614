// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_OPS_SHAPE_RULES_SHAPE_RULES_H_
#define MACE_OPS_SHAPE_RULES_SHAPE_RULES_H_

#include <cstdint>
#include <string>

#include "mace/core/base/shape.h"
#include "mace/core/base/status.h"
#include "mace/core/model/tensor.h"
#include "mace/ops/op_enums.h"

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

// Checks of the constants of convolutions and transposed convolutions.

// The error in a filter [O, KH, KW, C / groups] and its bias [O], which may be
// null; empty if there is none.
std::string WrongConvConstants(const Tensor &filter,
                               const Tensor *bias,
                               int64_t groups);

// The same for a depthwise filter [KH, KW, C, M] and its bias [C * M].
std::string WrongDepthwiseConstants(const Tensor &filter, const Tensor *bias);

// For operators that apply an activation to their result. INVALID_ARGS for
// PRELU, whose slopes only the operator Activation has.
MaceStatus CheckFusedActivation(Activation activation);

}  // namespace mace

#endif  // MACE_OPS_SHAPE_RULES_SHAPE_RULES_H_
