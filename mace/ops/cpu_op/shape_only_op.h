// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// What operators start from whose output has the elements of input 0, in their
// order, under another shape. Where the plan allows they cost nothing: the
// output is the memory of the input.

#ifndef MACE_OPS_CPU_OP_SHAPE_ONLY_OP_H_
#define MACE_OPS_CPU_OP_SHAPE_ONLY_OP_H_

#include "mace/ops/cpu_op/copy.h"
#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {

class ShapeOnlyOp : public CpuOp {
 public:
  MaceStatus InferShapes(ShapeContext *context) const final {
    Shape shape;
    MACE_RETURN_IF_ERROR(OutputShape(context, &shape));
    return SetOutput(context, 0, shape, context->input(0)->data_type);
  }

  MaceStatus Plan(PlanContext *context) final {
    context->AllowInPlace(0, 0);
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const final {
    CopyInputToOutput(context);
    return MaceStatus();
  }

 protected:
  // `shape` comes empty.
  virtual MaceStatus OutputShape(ShapeContext *context, Shape *shape) const = 0;
};

}  // namespace mace

#endif  // MACE_OPS_CPU_OP_SHAPE_ONLY_OP_H_
