// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/gather_nd/gather_nd_schema.h"

namespace mace {

MaceStatus InferGatherNdShapes(const GatherNdAttributes &attributes,
                               ShapeContext *context) {
  const Tensor *params = context->input(kGatherNdParamsInput);
  const Shape &from = params->shape;
  const Shape &indices = context->input(kGatherNdIndicesInput)->shape;
  const int64_t batch = attributes.batch_dims;
  const auto rank = static_cast<int64_t>(from.rank());
  const auto index_rank = static_cast<int64_t>(indices.rank());
  bool fits =
      batch < index_rank && batch <= rank && indices.back() <= rank - batch;
  for (int64_t i = 0; fits && i < batch; ++i) {
    const auto axis = static_cast<size_t>(i);
    fits = from[axis] == indices[axis];
  }
  if (!fits) {
    return InvalidArgs("indices of shape ", indices.ToString(),
                       " do not fit params of shape ", from.ToString(),
                       " with ", batch, " batch dimensions");
  }
  const auto first = static_cast<size_t>(batch + indices.back());
  const size_t out_rank = indices.rank() - 1 + from.rank() - first;
  if (out_rank > Shape::kMaxRank) {
    return InvalidArgs("the output would have ", out_rank,
                       " dimensions; at most ", Shape::kMaxRank,
                       " are supported");
  }
  Shape shape(indices.begin(), indices.rank() - 1);
  for (size_t i = first; i < from.rank(); ++i) shape.Append(from[i]);
  return SetOutput(context, 0, shape, params->data_type);
}

}  // namespace mace
