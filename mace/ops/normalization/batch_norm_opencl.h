// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_OPS_NORMALIZATION_BATCH_NORM_OPENCL_H_
#define MACE_OPS_NORMALIZATION_BATCH_NORM_OPENCL_H_

#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {

// Adds the launch of a BatchNorm. `after_cast`: it follows a Cast from int8 or
// uint8, whose input it reads.
void AddBatchNorm(bool after_cast, OpenclPlanContext *context);

}  // namespace mace

#endif  // MACE_OPS_NORMALIZATION_BATCH_NORM_OPENCL_H_
