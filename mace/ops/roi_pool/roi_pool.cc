// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/roi_pool/roi_pool_schema.h"

namespace mace {

MaceStatus InferRoiPoolShapes(const RoiPoolAttributes &attributes,
                              ShapeContext *context) {
  const Tensor *input = context->input(kRoiPoolInputInput);
  const Shape &regions = context->input(kRoiPoolRegionsInput)->shape;
  const Tensor *images = context->input(kRoiPoolImagesInput);
  if (input->shape.rank() != 4) {
    return InvalidArgs("the input has the shape ", input->shape.ToString(),
                       "; it must be [N, H, W, C]");
  }
  if (regions.rank() == 0 || regions.back() != 4) {
    return InvalidArgs("regions have the shape ", regions.ToString(),
                       "; it must be [..., 4]");
  }
  const int64_t count = regions.Elements(0, regions.rank() - 1);
  if (images != nullptr && images->elements() != count) {
    return InvalidArgs("images have the shape ", images->shape.ToString(),
                       ", but there are ", count, " regions");
  }
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
