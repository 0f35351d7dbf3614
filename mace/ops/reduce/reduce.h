// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_OPS_REDUCE_REDUCE_H_
#define MACE_OPS_REDUCE_REDUCE_H_

#include "mace/ops/reduce/reduce_schema.h"

namespace mace {

// Finds the axes of `shape` that are reduced. INVALID_ARGS for axes that it
// does not have.
MaceStatus FindFolds(const ReduceAttributes &attributes,
                     const Shape &shape,
                     bool (&folds)[Shape::kMaxRank]);

}  // namespace mace

#endif  // MACE_OPS_REDUCE_REDUCE_H_
