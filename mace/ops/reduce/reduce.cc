// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/reduce/reduce.h"

#include <algorithm>

namespace mace {

MaceStatus FindFolds(const ReduceAttributes &attributes,
                     const Shape &shape,
                     bool (&folds)[Shape::kMaxRank]) {
  std::fill(folds, folds + Shape::kMaxRank, attributes.axes.empty());
  for (const int64_t given : attributes.axes) {
    const int64_t axis = shape.NormalizeAxis(given);
    if (axis < 0 || folds[axis]) {
      return InvalidArgs("axis ", given, " is ",
                         axis < 0 ? "out of range" : "named twice",
                         " for an input of shape ", shape.ToString());
    }
    folds[axis] = true;
  }
  return MaceStatus();
}

MaceStatus InferReduceShapes(const ReduceAttributes &attributes,
                             ShapeContext *context) {
  const Tensor *input = context->input(kReduceInputInput);
  const Shape &shape = input->shape;
  bool folds[Shape::kMaxRank];
  MACE_RETURN_IF_ERROR(FindFolds(attributes, shape, folds));
  Shape output;
  for (size_t i = 0; i < shape.rank(); ++i) {
    if (!folds[i]) output.Append(shape[i]);
    if (folds[i] && attributes.keep_dims) output.Append(1);
  }
  const bool of_floats =
      attributes.mode == ReduceMode::MEAN || attributes.mode == ReduceMode::L2;
  if (of_floats && input->data_type == DataType::kInt32) {
    return Unsupported("mode ",
                       kReduceModeNames[static_cast<int>(attributes.mode)],
                       " does not support int32");
  }
  return SetOutput(context, 0, output, input->data_type);
}

}  // namespace mace
