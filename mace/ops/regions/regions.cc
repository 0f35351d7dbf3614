// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>

#include "mace/core/base/status.h"
#include "mace/core/model/op.h"
#include "mace/ops/regions/non_max_suppression_schema.h"
#include "mace/ops/regions/roi_align_schema.h"
#include "mace/ops/regions/roi_pool_schema.h"

namespace mace {
namespace {

// For operators that read regions [..., 4] of images [N, H, W, C]: sets how
// many regions there are. `images` has the index of the image of each, and is
// null if all are of the first one. INVALID_ARGS for other shapes.
MaceStatus CountRegions(const Tensor &input,
                        const Tensor &regions,
                        const Tensor *images,
                        int64_t *count) {
  const Shape &shape = regions.shape;
  if (input.shape.rank() != 4) {
    return InvalidArgs("the input has the shape ", input.shape.ToString(),
                       "; it must be [N, H, W, C]");
  }
  if (shape.rank() == 0 || shape.back() != 4) {
    return InvalidArgs("regions have the shape ", shape.ToString(),
                       "; it must be [..., 4]");
  }
  *count = shape.Elements(0, shape.rank() - 1);
  if (images != nullptr && images->elements() != *count) {
    return InvalidArgs("images have the shape ", images->shape.ToString(),
                       ", but there are ", *count, " regions");
  }
  return MaceStatus();
}

}  // namespace

MaceStatus InferRoiAlignShapes(const RoiAlignAttributes &attributes,
                               ShapeContext *context) {
  const Tensor *input = context->input(kRoiAlignInputInput);
  int64_t count = 0;
  MACE_RETURN_IF_ERROR(
      CountRegions(*input, *context->input(kRoiAlignRegionsInput),
                   context->input(kRoiAlignImagesInput), &count));
  return SetOutput(
      context, 0,
      {count, attributes.height, attributes.width, input->shape.back()},
      input->data_type);
}

MaceStatus InferRoiPoolShapes(const RoiPoolAttributes &attributes,
                              ShapeContext *context) {
  const Tensor *input = context->input(kRoiPoolInputInput);
  int64_t count = 0;
  MACE_RETURN_IF_ERROR(
      CountRegions(*input, *context->input(kRoiPoolRegionsInput),
                   context->input(kRoiPoolImagesInput), &count));
  int64_t depth = input->shape.back();
  if (attributes.mode == RoiPoolMode::POSITION_SENSITIVE) {
    const int64_t places = attributes.height * attributes.width;
    if (depth % places != 0) {
      return InvalidArgs(depth, " channels are no multiple of ", places,
                         " places of an output");
    }
    depth /= places;
  }
  return SetOutput(context, 0,
                   {count, attributes.height, attributes.width, depth},
                   input->data_type);
}

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
