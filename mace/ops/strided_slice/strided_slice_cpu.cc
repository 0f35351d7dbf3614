// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/strided_slice/strided_slice.h"

#include <memory>

#include "mace/ops/cpu_op/copy.h"
#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {

namespace {

// The positions of the output's elements in the input.
class SlicePlan final : public OpPlan {
 public:
  // For elements of `size` bytes; the output is not empty.
  SlicePlan(const Shape &shape, const Cut *cuts, int64_t size) {
    view_.block = size;
    // The innermost axes that are complete form one block; if the next axis is
    // sliced with step 1, it becomes part of the block.
    size_t rank = shape.rank();
    while (rank > 0 && cuts[rank - 1].length == shape[rank - 1] &&
           cuts[rank - 1].stride == 1) {
      view_.block *= shape[--rank];
    }
    int64_t stride = view_.block;  // bytes between neighbours on axis i
    view_.rank = rank;
    for (size_t i = rank; i-- > 0;) {
      offset_ += cuts[i].begin * stride;
      view_.dims[i] = cuts[i].length;
      view_.strides[i] = cuts[i].stride * stride;
      stride *= shape[i];
    }
    if (rank > 0 && cuts[rank - 1].stride == 1) {
      view_.block *= view_.dims[rank - 1];
      --view_.rank;
    }
  }

  const StridedView &view() const { return view_; }
  int64_t offset() const { return offset_; }  // bytes

 private:
  StridedView view_;
  int64_t offset_ = 0;
};

class StridedSliceOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<StridedSliceAttributes>();
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    if (context->output(0)->elements() == 0) return MaceStatus();
    const Tensor *input = context->input(kStridedSliceInputInput);
    Cut cuts[Shape::kMaxRank];
    FindCuts(attributes_, input->shape, cuts);
    context->Keep(std::make_unique<SlicePlan>(
        input->shape, cuts,
        static_cast<int64_t>(DataTypeSize(input->data_type))));
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor *input = context->input(kStridedSliceInputInput);
    Tensor *output = context->output(0);
    if (output->elements() == 0) return MaceStatus();
    const auto &plan = context->PlanAs<SlicePlan>();
    CopyStrided(context->thread_pool(), plan.view(),
                input->As<uint8_t>() + plan.offset(),
                output->MutableAs<uint8_t>());
    return MaceStatus();
  }

 private:
  StridedSliceAttributes attributes_;
};

}  // namespace

MACE_REGISTER_OP(StridedSlice, CPU, StridedSliceOp);

}  // namespace mace
