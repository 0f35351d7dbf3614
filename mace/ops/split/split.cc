// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/split/split_schema.h"

#include "mace/ops/cpu_op/copy.h"
#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {

namespace {

class SplitOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    return attributes_.Parse(context->def());
  }

  MaceStatus InferShapes(ShapeContext *context) const override {
    const Tensor *input = context->input(kSplitInputInput);
    const int64_t axis = input->shape.NormalizeAxis(attributes_.axis);
    if (axis < 0) {
      return Invalid("axis ", attributes_.axis,
                     " is out of range for an input of shape ",
                     input->shape.ToString());
    }
    const int64_t length = input->shape[axis];
    const auto parts = static_cast<int64_t>(context->output_count());
    if (attributes_.sizes.empty()) {
      if (length % parts != 0) {
        return Invalid("dimension ", axis, " of ", input->shape.ToString(),
                       " cannot be cut into ", parts, " equal parts");
      }
    } else {
      MACE_RETURN_IF_ERROR(CheckSizes(input->shape, axis, parts));
    }
    for (int64_t i = 0; i < parts; ++i) {
      Shape shape = input->shape;
      shape[axis] =
          attributes_.sizes.empty() ? length / parts : attributes_.sizes[i];
      MACE_RETURN_IF_ERROR(
          SetOutput(context, static_cast<size_t>(i), shape, input->data_type));
    }
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
  MaceStatus CheckSizes(const Shape &shape, int64_t axis, int64_t parts) const {
    if (static_cast<int64_t>(attributes_.sizes.size()) != parts) {
      return Invalid("has ", parts, " outputs but ", attributes_.sizes.size(),
                     " sizes");
    }
    int64_t left = shape[axis];
    for (const int64_t part : attributes_.sizes) {
      if (part > left) {
        left = -1;
        break;
      }
      left -= part;
    }
    if (left != 0) {
      return Invalid("the sizes do not add up to dimension ", axis, " of ",
                     shape.ToString());
    }
    return MaceStatus();
  }

  SplitAttributes attributes_;
};

}  // namespace

MACE_REGISTER_OP(Split, CPU, SplitOp);

}  // namespace mace
