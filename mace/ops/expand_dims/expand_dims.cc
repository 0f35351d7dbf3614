// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/expand_dims/expand_dims_schema.h"

namespace mace {

MaceStatus InferExpandDimsShapes(const ExpandDimsAttributes &attributes,
                                 ShapeContext *context) {
  const Tensor *input = context->input(kExpandDimsInputInput);
  Shape shape;
  const size_t rank = input->shape.rank() + attributes.axes.size();
  if (rank > Shape::kMaxRank) {
    return InvalidArgs("the output would have ", rank, " dimensions; at most ",
                       Shape::kMaxRank, " are supported");
  }
  bool inserted[Shape::kMaxRank] = {};
  const auto signed_rank = static_cast<int64_t>(rank);
  for (const int64_t given : attributes.axes) {
    const bool within = given >= -signed_rank && given < signed_rank;
    const int64_t axis = given < 0 ? given + signed_rank : given;
    if (!within || inserted[axis]) {
      return InvalidArgs("axis ", given, " is ",
                         within ? "named twice" : "out of range",
                         " for an output of ", rank, " dimensions");
    }
    inserted[axis] = true;
  }
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) {
    shape.Append(inserted[i] ? 1 : input->shape[next++]);
  }
  return SetOutput(context, 0, shape, input->data_type);
}

}  // namespace mace
