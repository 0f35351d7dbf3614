// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/shape/shape_schema.h"

namespace mace {

namespace {

class ShapeOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    ShapeAttributes attributes;
    return attributes.Parse(context->def());
  }

  MaceStatus InferShapes(ShapeContext *context) const override {
    const Shape &shape = context->input(kShapeInputInput)->shape;
    for (const int64_t dim : shape) {
      if (dim > INT32_MAX) {
        return Invalid("dimension ", dim,
                       " of the input does not fit into "
                       "the int32 output");
      }
    }
    return SetOutput(context, 0, {static_cast<int64_t>(shape.rank())},
                     DataType::kInt32);
  }

  // The input may have no data yet.
  MaceStatus Run(RunContext *context) const override {
    const Shape &shape = context->input(kShapeInputInput)->shape;
    int32_t *dims = context->output(0)->MutableAs<int32_t>();
    for (size_t i = 0; i < shape.rank(); ++i) {
      dims[i] = static_cast<int32_t>(shape[i]);
    }
    return MaceStatus();
  }

  bool DependsOnShapesOnly() const override { return true; }
};

}  // namespace

MACE_REGISTER_OP(Shape, CPU, ShapeOp);

}  // namespace mace
