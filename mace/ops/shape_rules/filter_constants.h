// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Checks of the constants of convolutions and transposed convolutions.

#ifndef MACE_OPS_SHAPE_RULES_FILTER_CONSTANTS_H_
#define MACE_OPS_SHAPE_RULES_FILTER_CONSTANTS_H_

#include <cstdint>
#include <string>

#include "mace/core/model/tensor.h"

namespace mace {

// The error in a filter [O, KH, KW, C / groups] and its bias [O], which may be
// null; empty if there is none.
std::string WrongConvConstants(const Tensor &filter,
                               const Tensor *bias,
                               int64_t groups);

// The same for a depthwise filter [KH, KW, C, M] and its bias [C * M].
std::string WrongDepthwiseConstants(const Tensor &filter, const Tensor *bias);

}  // namespace mace

#endif  // MACE_OPS_SHAPE_RULES_FILTER_CONSTANTS_H_
