// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/one_hot/one_hot_schema.h"

namespace mace {

MaceStatus InferOneHotShapes(const OneHotAttributes &attributes,
                             ShapeContext *context) {
  const Tensor &indices = *context->input(kOneHotIndicesInput);
  const Tensor &values = *context->input(kOneHotValuesInput);
  if (values.shape != Shape{2}) {
    return InvalidArgs("values has shape ", values.shape.ToString(),
                       "; expected [2]: the value elsewhere, then the value at "
                       "the index");
  }
  const auto rank = static_cast<int64_t>(indices.shape.rank());
  if (rank + 1 > static_cast<int64_t>(Shape::kMaxRank)) {
    return InvalidArgs("the output would have ", rank + 1,
                       " dimensions; at most ", Shape::kMaxRank,
                       " are supported");
  }
  const int64_t axis = attributes.axis;
  if (axis < -rank - 1 || axis > rank) {
    return InvalidArgs("axis ", axis, " is not within [", -rank - 1, ", ", rank,
                       "] for indices of shape ", indices.shape.ToString());
  }
  const auto at = static_cast<size_t>(axis < 0 ? axis + rank + 1 : axis);
  Shape output(indices.shape.begin(), at);
  output.Append(attributes.depth);
  for (size_t i = at; i < indices.shape.rank(); ++i) {
    output.Append(indices.shape[i]);
  }
  return SetOutput(context, 0, output, values.data_type);
}

}  // namespace mace
