// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/concat/split_schema.h"

#include "mace/ops/cpu_op/copy.h"
#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {

namespace {

class SplitOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<SplitAttributes>();
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor *input = context->input(kSplitInputInput);
    const Shape &shape = input->shape;
    const auto size = static_cast<int64_t>(DataTypeSize(input->data_type));
    const auto axis =
        static_cast<size_t>(shape.NormalizeAxis(attributes_.axis));
    const int64_t inner = shape.Elements(axis + 1, shape.rank()) * size;
    RowCopy copy;
    copy.rows = shape.Elements(0, axis);
    copy.source = input->As<uint8_t>();
    copy.source_stride = shape[axis] * inner;
    RowCopy parts[kMaxParts];
    size_t count = 0;
    for (size_t i = 0; i < context->output_count(); ++i) {
      Tensor *output = context->output(i);
      copy.bytes = output->shape[axis] * inner;
      copy.target = output->MutableAs<uint8_t>();
      copy.target_stride = copy.bytes;
      parts[count++] = copy;
      copy.source += copy.bytes;
      if (count == kMaxParts || i + 1 == context->output_count()) {
        CopyParts(context->thread_pool(), parts, count);
        count = 0;
      }
    }
    return MaceStatus();
  }

 private:
  SplitAttributes attributes_;
};

}  // namespace

MACE_REGISTER_OP(Split, CPU, SplitOp);

}  // namespace mace
