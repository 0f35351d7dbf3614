// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "mace/ops/strided_slice/pad_schema.h"
#include "mace/ops/strided_slice/strided_slice.h"
#include "mace/ops/strided_slice/trim_schema.h"

namespace mace {

namespace {

// Python's slicing: negative begin and end count from the end, and both are
// limited to the existing elements.
Cut CutAxis(int64_t size, int64_t begin, int64_t end, int64_t stride) {
  // A step larger than the axis takes one element, whatever the step is;
  // limiting it prevents overflow of the sums below.
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

}  // namespace

void FindCuts(const StridedSliceAttributes &attributes,
              const Shape &shape,
              Cut (&cuts)[Shape::kMaxRank]) {
  for (size_t i = 0; i < shape.rank(); ++i) cuts[i] = {0, 1, shape[i]};
  for (size_t i = 0; i < attributes.axes.size(); ++i) {
    const int64_t axis = shape.NormalizeAxis(attributes.axes[i]);
    cuts[axis] = CutAxis(shape[axis], attributes.begins[i], attributes.ends[i],
                         attributes.strides[i]);
  }
}

MaceStatus InferStridedSliceShapes(const StridedSliceAttributes &attributes,
                                   ShapeContext *context) {
  const Tensor *input = context->input(kStridedSliceInputInput);
  const Shape &shape = input->shape;
  const size_t count = attributes.axes.size();
  if (attributes.begins.size() != count || attributes.ends.size() != count ||
      attributes.strides.size() != count) {
    return InvalidArgs("axes, begins, ends and strides have ", count, ", ",
                       attributes.begins.size(), ", ", attributes.ends.size(),
                       " and ", attributes.strides.size(),
                       " values; all must have the same number");
  }
  for (const int64_t stride : attributes.strides) {
    if (stride == 0) return InvalidArgs("a stride is 0");
  }
  bool seen[Shape::kMaxRank] = {};
  for (size_t i = 0; i < attributes.axes.size(); ++i) {
    const int64_t axis = shape.NormalizeAxis(attributes.axes[i]);
    if (axis < 0 || seen[axis]) {
      return InvalidArgs("axis ", attributes.axes[i], " is ",
                         axis < 0 ? "out of range" : "named twice",
                         " for an input of shape ", shape.ToString());
    }
    seen[axis] = true;
  }
  Cut cuts[Shape::kMaxRank];
  FindCuts(attributes, shape, cuts);
  bool shrink[Shape::kMaxRank] = {};
  for (const int64_t axis : attributes.shrink_axes) {
    if (axis >= static_cast<int64_t>(shape.rank()) || cuts[axis].length != 1) {
      return InvalidArgs(
          "axis ", axis,
          " cannot be dropped: its length is not 1 after slicing "
          "the shape ",
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

namespace {

// Prevents overflow of sums of dimensions.
constexpr int64_t kMostPadding = INT64_C(1) << 40;

// Of an axis with n elements.
int64_t MostPadding(PadMode mode, int64_t n) {
  switch (mode) {
    case PadMode::REFLECT:
      return std::max<int64_t>(0, n - 1);
    case PadMode::SYMMETRIC:
      return n;
    case PadMode::EDGE:
      return n == 0 ? 0 : kMostPadding;
    case PadMode::CONSTANT:
      break;
  }
  return kMostPadding;
}

}  // namespace

MaceStatus InferPadShapes(const PadAttributes &attributes,
                          ShapeContext *context) {
  const Tensor *input = context->input(kPadInputInput);
  const size_t rank = input->shape.rank();
  if (attributes.pads.size() != 2 * rank) {
    return InvalidArgs("has ", attributes.pads.size(), " pads, not ", 2 * rank,
                       " for an input of shape ", input->shape.ToString());
  }
  Shape shape = input->shape;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t before = attributes.pads[2 * i];
    const int64_t after = attributes.pads[2 * i + 1];
    const int64_t most = MostPadding(attributes.mode, shape[i]);
    if (before > most || after > most) {
      return InvalidArgs("axis ", i, " of ", shape.ToString(),
                         " cannot be padded by ", before, " and ", after,
                         "; at most by ", most, " in this mode");
    }
    shape[i] += before + after;
  }
  return SetOutput(context, 0, shape, input->data_type);
}

MaceStatus InferTrimShapes(const TrimAttributes &attributes,
                           ShapeContext *context) {
  const Tensor *input = context->input(kTrimInputInput);
  const Tensor *count = context->input(kTrimCountInput);
  const int64_t axis = input->shape.NormalizeAxis(attributes.axis);
  if (axis < 0) {
    return InvalidArgs("axis ", attributes.axis,
                       " is out of range for an input of shape ",
                       input->shape.ToString());
  }
  if (count->elements() != 1) {
    return InvalidArgs("count has the shape ", count->shape.ToString(),
                       "; it takes one element");
  }
  Shape shape = input->shape;
  if (count->data != nullptr) {
    int64_t &kept = shape[static_cast<size_t>(axis)];
    kept = std::clamp<int64_t>(*count->As<int32_t>(), 0, kept);
  }
  return SetOutput(context, 0, shape, input->data_type);
}

}  // namespace mace
