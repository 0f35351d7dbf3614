// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/stack/stack_schema.h"

#include "mace/ops/cpu_op/copy.h"
#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {

namespace {

class StackOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    return attributes_.Parse(context->def());
  }

  MaceStatus InferShapes(ShapeContext *context) const override {
    const Tensor *first = context->input(0);
    for (size_t i = 1; i < context->input_count(); ++i) {
      const Tensor *input = context->input(i);
      if (input->shape != first->shape ||
          input->data_type != first->data_type) {
        return Invalid("input ", i, " is ", DataTypeName(input->data_type),
                       input->shape.ToString(), " but input 0 is ",
                       DataTypeName(first->data_type), first->shape.ToString());
      }
    }
    const auto rank = static_cast<int64_t>(first->shape.rank()) + 1;
    if (rank > static_cast<int64_t>(Shape::kMaxRank)) {
      return Invalid("the output would have ", rank, " dimensions; at most ",
                     Shape::kMaxRank, " are supported");
    }
    if (attributes_.axis < -rank || attributes_.axis >= rank) {
      return Invalid("axis ", attributes_.axis,
                     " is out of range for an output of ", rank, " dimensions");
    }
    const auto axis = static_cast<size_t>(
        attributes_.axis < 0 ? attributes_.axis + rank : attributes_.axis);
    Shape shape;
    for (size_t i = 0; i < static_cast<size_t>(rank); ++i) {
      if (i == axis) {
        shape.Append(static_cast<int64_t>(context->input_count()));
      } else {
        shape.Append(first->shape[i < axis ? i : i - 1]);
      }
    }
    return SetOutput(context, 0, shape, first->data_type);
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
