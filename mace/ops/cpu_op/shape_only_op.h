// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The base class of operators whose output has the elements of input 0, in the
// same order, with another shape. If the plan allows, they cost nothing: the
// output is the memory of the input.

#ifndef MACE_OPS_CPU_OP_SHAPE_ONLY_OP_H_
#define MACE_OPS_CPU_OP_SHAPE_ONLY_OP_H_

#include "mace/ops/cpu_op/copy.h"
#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {

class ShapeOnlyOp final : public CpuOp {
 public:
  MaceStatus Plan(PlanContext *context) override {
    context->AllowInPlace(0, 0);
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    CopyInputToOutput(context);
    return MaceStatus();
  }
};

}  // namespace mace

#endif  // MACE_OPS_CPU_OP_SHAPE_ONLY_OP_H_
