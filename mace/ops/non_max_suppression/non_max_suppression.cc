// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "mace/ops/non_max_suppression/non_max_suppression_schema.h"

namespace mace {

MaceStatus InferNonMaxSuppressionShapes(
    const NonMaxSuppressionAttributes &attributes, ShapeContext *context) {
  const Shape &boxes = context->input(kNonMaxSuppressionBoxesInput)->shape;
  const Shape &scores = context->input(kNonMaxSuppressionScoresInput)->shape;
  if (boxes.rank() != 3 || scores.rank() != 3 || boxes[2] != 4 ||
      scores[0] != boxes[0] || scores[2] != boxes[1]) {
    return InvalidArgs("boxes of shape ", boxes.ToString(),
                       " and scores of shape ", scores.ToString(),
                       "; they must be [N, B, 4] and [N, C, B]");
  }
  const Shape most = {scores[0], scores[1],
                      std::min(attributes.max_boxes, scores[2]), 3};
  if (most.CheckedElements(INT32_MAX) < 0) {
    return InvalidArgs("scores of shape ", scores.ToString(),
                       " have too many results");
  }
  MACE_RETURN_IF_ERROR(
      SetOutput(context, 0, {most.Elements(0, 3), 3}, DataType::kInt32));
  return SetOutput(context, 1, {1}, DataType::kInt32);
}

}  // namespace mace
