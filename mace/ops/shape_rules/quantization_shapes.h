// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_OPS_SHAPE_RULES_QUANTIZATION_SHAPES_H_
#define MACE_OPS_SHAPE_RULES_QUANTIZATION_SHAPES_H_

#include <cstdint>
#include <string>

#include "mace/core/model/tensor.h"

namespace mace {

// The error in the scale or the zero point of a tensor of that shape; empty if
// there is none. `zero` may be null; otherwise its type is `type`.
std::string QuantizationProblem(const Shape &shape,
                                const Tensor &scale,
                                const Tensor *zero,
                                DataType type,
                                int64_t axis);

}  // namespace mace

#endif  // MACE_OPS_SHAPE_RULES_QUANTIZATION_SHAPES_H_
