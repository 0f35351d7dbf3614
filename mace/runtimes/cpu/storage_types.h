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

// Creates and initialises an operator that is not in the model.
using MakeAddedOp =
    std::function<Result<std::unique_ptr<Op>>(const OperatorDef &def)>;

// Decides which float tensors of the model are stored in 16 bits, depending on
// how operators support the precision that the deployment asks for, and inserts
// a Cast where producer and reader use different types: one Cast for all
// readers of a tensor. Imports and exports of the partition keep the type that
// the model gives them.
MaceStatus ChooseStorageTypes(const Graph &graph,
                              const MakeAddedOp &make_op,
                              CpuNodes *nodes);

// The same, and then sets CpuNodes::loops. Moves the conversions out of the
// loops that do not make what they convert. MACE_INVALID_ARGS if the loops are
// not nested, if the end of a loop does not read the values of its beginning,
// or if an operator outside, or the application, reads what is computed inside.
// Defined by mace/runtimes/cpu:loops, and null in a library without loops.
__attribute__((weak, visibility("hidden"))) MaceStatus ChooseTypesAndFindLoops(
    const Graph &graph, const MakeAddedOp &make_op, CpuNodes *nodes);

// Stores the quantized tensors of 8 bits that the plan's operators compute as
// the processor's kernels read them (kUnsignedBytes), with zero points that
// differ by 128 from the model's if the model has the other type, so that no
// kernel converts them at run time. Constants, exports, values known before the
// run, and what an operator reads that computes with the model's integers
// (Signedness::kOfModel) keep the model's type. Defined by
// mace/runtimes/cpu:signedness, and null in a library without quantized
// operators.
__attribute__((weak, visibility("hidden"))) void ChooseSignedness(
    const Graph &graph, CpuPlan *plan);

}  // namespace mace

#endif  // MACE_RUNTIMES_CPU_STORAGE_TYPES_H_
