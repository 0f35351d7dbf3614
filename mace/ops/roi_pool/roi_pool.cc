// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/roi_pool/roi_pool_schema.h"
#include "mace/ops/shape_rules/region_shapes.h"

namespace mace {

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

}  // namespace mace
