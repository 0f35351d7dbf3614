// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/strided_slice/strided_slice_schema.h"

#include <algorithm>
#include <memory>

#include "mace/ops/cpu_op/copy.h"
#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {

namespace {

// What remains of one axis.
struct Cut {
  int64_t begin = 0;
  int64_t stride = 1;
  int64_t length = 0;
};

// Python's slicing: begin and end count from the end when negative, and are
// clamped to the elements there are.
Cut CutAxis(int64_t size, int64_t begin, int64_t end, int64_t stride) {
  // A step beyond the axis takes one element whatever its length; clamping
  // it keeps the sums below from overflowing.
  stride = std::clamp(stride, -size - 1, size + 1);
  const int64_t lowest = stride > 0 ? 0 : -1;
  const int64_t highest = stride > 0 ? size : size - 1;
  if (begin < 0) begin += size;
  if (end < 0) end += size;
  begin = std::clamp(begin, lowest, highest);
  end = std::clamp(end, lowest, highest);
  Cut cut;
  cut.begin = begin;
  cut.stride = stride;
  if (stride > 0 && begin < end) cut.length = (end - begin - 1) / stride + 1;
  if (stride < 0 && begin > end) cut.length = (begin - end - 1) / -stride + 1;
  return cut;
}

// Where the elements of the output lie in the input.
class SlicePlan final : public OpPlan {
 public:
  // Of elements of `size` bytes; the output has some.
  SlicePlan(const Shape &shape, const Cut *cuts, int64_t size) {
    view_.block = size;
    // Innermost axes that are kept whole are one block; the next one, if it
    // is cut without a step, is a longer block.
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
    MACE_RETURN_IF_ERROR(attributes_.Parse(context->def()));
    const size_t count = attributes_.axes.size();
    if (attributes_.begins.size() != count ||
        attributes_.ends.size() != count ||
        attributes_.strides.size() != count) {
      return Invalid("axes, begins, ends and strides have ", count, ", ",
                     attributes_.begins.size(), ", ", attributes_.ends.size(),
                     " and ", attributes_.strides.size(),
                     " values; they must have as many");
    }
    for (const int64_t stride : attributes_.strides) {
      if (stride == 0) return Invalid("a stride is 0");
    }
    return MaceStatus();
  }

  MaceStatus InferShapes(ShapeContext *context) const override {
    const Tensor *input = context->input(kStridedSliceInputInput);
    const Shape &shape = input->shape;
    bool seen[Shape::kMaxRank] = {};
    for (size_t i = 0; i < attributes_.axes.size(); ++i) {
      const int64_t axis = shape.NormalizeAxis(attributes_.axes[i]);
      if (axis < 0 || seen[axis]) {
        return Invalid("axis ", attributes_.axes[i], " is ",
                       axis < 0 ? "out of range" : "named twice",
                       " for an input of shape ", shape.ToString());
      }
      seen[axis] = true;
    }
    Cut cuts[Shape::kMaxRank];
    FindCuts(shape, cuts);
    bool shrink[Shape::kMaxRank] = {};
    for (const int64_t axis : attributes_.shrink_axes) {
      if (axis >= static_cast<int64_t>(shape.rank()) ||
          cuts[axis].length != 1) {
        return Invalid("axis ", axis,
                       " to drop has not the length 1 after "
                       "slicing the shape ",
                       shape.ToString());
      }
      shrink[axis] = true;
    }
    Shape output;
    for (size_t i = 0; i < shape.rank(); ++i) {
      if (!shrink[i]) output.Append(cuts[i].length);
    }
    return SetOutput(context, 0, output, input->data_type);
  }

  MaceStatus Plan(PlanContext *context) override {
    if (context->output(0)->elements() == 0) return MaceStatus();
    const Tensor *input = context->input(kStridedSliceInputInput);
    Cut cuts[Shape::kMaxRank];
    FindCuts(input->shape, cuts);
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
  // The axes are within the shape.
  void FindCuts(const Shape &shape, Cut (&cuts)[Shape::kMaxRank]) const {
    for (size_t i = 0; i < shape.rank(); ++i) cuts[i] = {0, 1, shape[i]};
    for (size_t i = 0; i < attributes_.axes.size(); ++i) {
      const int64_t axis = shape.NormalizeAxis(attributes_.axes[i]);
      cuts[axis] = CutAxis(shape[axis], attributes_.begins[i],
                           attributes_.ends[i], attributes_.strides[i]);
    }
  }

  StridedSliceAttributes attributes_;
};

}  // namespace

MACE_REGISTER_OP(StridedSlice, CPU, StridedSliceOp);

}  // namespace mace
