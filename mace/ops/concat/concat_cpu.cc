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
    attributes_ = context->AttributesAs<ConcatAttributes>();
    return MaceStatus();
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
      // The source equals the target if the input was computed in place.
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
  // `output` has the same rank as the inputs.
  size_t AxisOf(const Shape &output) const {
    return static_cast<size_t>(output.NormalizeAxis(attributes_.axis));
  }

  ConcatAttributes attributes_;
};

}  // namespace

MACE_REGISTER_OP(Concat, CPU, ConcatOp);

}  // namespace mace
