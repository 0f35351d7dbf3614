// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_MODEL_QUANTIZED_CHECKS_H_
#define MACE_CORE_MODEL_QUANTIZED_CHECKS_H_

#include "mace/core/model/op.h"

namespace mace {

extern const QuantizedChecks kQuantizedChecks;

}  // namespace mace

#endif  // MACE_CORE_MODEL_QUANTIZED_CHECKS_H_
