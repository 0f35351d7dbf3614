// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/concat/stack_schema.h"

#include "mace/ops/cpu_op/copy.h"
#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {

namespace {

class StackOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<StackAttributes>();
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    Tensor *output = context->output(0);
    const auto size = static_cast<int64_t>(DataTypeSize(output->data_type));
    const Shape &shape = output->shape;
    const auto axis =
        static_cast<size_t>(shape.NormalizeAxis(attributes_.axis));
    RowCopy copy;
    copy.rows = shape.Elements(0, axis);
    copy.bytes = shape.Elements(axis + 1, shape.rank()) * size;
    copy.source_stride = copy.bytes;
    copy.target = output->MutableAs<uint8_t>();
    copy.target_stride = shape[axis] * copy.bytes;
    for (size_t i = 0; i < context->input_count(); ++i) {
      copy.source = context->input(i)->As<uint8_t>();
      CopyRows(context->thread_pool(), copy);
      copy.target += copy.bytes;
    }
    return MaceStatus();
  }

 private:
  StackAttributes attributes_;
};

}  // namespace

MACE_REGISTER_OP(Stack, CPU, StackOp);

}  // namespace mace
