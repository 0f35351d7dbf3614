// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/half_arithmetic.h"

namespace mace {

HalfArithmetic::Finder HalfArithmetic::finder_ = nullptr;

}  // namespace mace
