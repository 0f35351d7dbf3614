// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_RUNTIMES_CPU_STORAGE_TYPES_H_
#define MACE_RUNTIMES_CPU_STORAGE_TYPES_H_

#include <functional>
#include <memory>

#include "mace/core/base/status.h"
#include "mace/core/graph/graph.h"
#include "mace/runtimes/cpu/cpu_plan.h"

namespace mace {

// Makes and initialises an operator that the model does not have.
using MakeAddedOp =
    std::function<Result<std::unique_ptr<Op>>(const OperatorDef &def)>;

// Decides which tensors that the model calls float are stored in 16 bits, by
// what operators make of the precision that the deployment asks for, and puts a
// Cast between those that disagree: one for all readers of a tensor. What
// crosses the border of the partition keeps the type that the model says.
MaceStatus ChooseStorageTypes(const Graph &graph,
                              const MakeAddedOp &make_op,
                              CpuNodes *nodes);

}  // namespace mace

#endif  // MACE_RUNTIMES_CPU_STORAGE_TYPES_H_
