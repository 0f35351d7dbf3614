// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/shape/shape_schema.h"

namespace mace {

namespace {

class ShapeOp final : public CpuOp {
 public:
  // The input may have no data yet.
  MaceStatus Run(RunContext *context) const override {
    const Shape &shape = context->input(kShapeInputInput)->shape;
    int32_t *dims = context->output(0)->MutableAs<int32_t>();
    for (size_t i = 0; i < shape.rank(); ++i) {
      dims[i] = static_cast<int32_t>(shape[i]);
    }
    return MaceStatus();
  }
};

}  // namespace

MACE_REGISTER_OP(Shape, CPU, ShapeOp);

}  // namespace mace
