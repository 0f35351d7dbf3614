// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/concat/concat_schema.h"

#include "mace/ops/cpu_op/copy.h"
#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {

namespace {

class ConcatOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    return attributes_.Parse(context->def());
  }

  MaceStatus InferShapes(ShapeContext *context) const override {
    const Tensor *first = context->input(0);
    Shape shape = first->shape;
    const int64_t axis = shape.NormalizeAxis(attributes_.axis);
    if (axis < 0) {
      return Invalid("axis ", attributes_.axis,
                     " is out of range for inputs of shape ", shape.ToString());
    }
    for (size_t i = 1; i < context->input_count(); ++i) {
      const Tensor *input = context->input(i);
      if (input->data_type != first->data_type) {
        return Invalid("input ", i, " is ", DataTypeName(input->data_type),
                       " but input 0 is ", DataTypeName(first->data_type));
      }
      bool fits = input->shape.rank() == shape.rank();
      for (size_t d = 0; fits && d < shape.rank(); ++d) {
        fits = static_cast<int64_t>(d) == axis ||
               input->shape[d] == first->shape[d];
      }
      if (!fits) {
        return Invalid("input ", i, " has the shape ", input->shape.ToString(),
                       ", which does not fit to ", first->shape.ToString(),
                       " beside axis ", axis);
      }
      // Sizes of single tensors are below 2^40 elements: no overflow.
      shape[axis] += input->shape[axis];
    }
    return SetOutput(context, 0, shape, first->data_type);
  }

  MaceStatus Plan(PlanContext *context) override {
    const Shape &shape = context->output(0)->shape;
    const size_t axis = AxisOf(shape);
    const int64_t inner = shape.Elements(axis + 1, shape.rank());
    const bool of_rows = axis + 1 == shape.rank();
    PartPlace place;
    place.stride = shape[axis] * inner;
    for (size_t i = 0; i < context->input_count(); ++i) {
      place.run = context->input(i)->shape[axis] * inner;
      context->AllowPart(0, i, place);
      if (of_rows) context->AllowStridedInput(i);
      place.offset += place.run;
    }
    if (of_rows) context->AllowStridedOutput(0);
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    Tensor *output = context->output(0);
    const Shape &shape = output->shape;
    const size_t axis = AxisOf(shape);
    const auto size = static_cast<int64_t>(DataTypeSize(output->data_type));
    const int64_t inner = shape.Elements(axis + 1, shape.rank()) * size;
    const bool of_rows = axis + 1 == shape.rank();
    RowCopy copy;
    copy.rows = shape.Elements(0, axis);
    copy.target = output->MutableAs<uint8_t>();
    copy.target_stride =
        of_rows ? output->RowStride() * size : shape[axis] * inner;
    RowCopy parts[kMaxParts];
    size_t count = 0;
    for (size_t i = 0; i < context->input_count(); ++i) {
      const Tensor *input = context->input(i);
      copy.bytes = input->shape[axis] * inner;
      // The target itself where it was computed in its place.
      copy.source = input->As<uint8_t>();
      copy.source_stride = of_rows ? input->RowStride() * size : copy.bytes;
      parts[count++] = copy;
      copy.target += copy.bytes;
      if (count == kMaxParts || i + 1 == context->input_count()) {
        CopyParts(context->thread_pool(), parts, count);
        count = 0;
      }
    }
    return MaceStatus();
  }

 private:
  // `output` has the rank of the inputs.
  size_t AxisOf(const Shape &output) const {
    return static_cast<size_t>(output.NormalizeAxis(attributes_.axis));
  }

  ConcatAttributes attributes_;
};

}  // namespace

MACE_REGISTER_OP(Concat, CPU, ConcatOp);

}  // namespace mace
