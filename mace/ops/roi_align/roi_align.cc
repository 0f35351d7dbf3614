// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/roi_align/roi_align_schema.h"

namespace mace {

MaceStatus InferRoiAlignShapes(const RoiAlignAttributes &attributes,
                               ShapeContext *context) {
  const Tensor *input = context->input(kRoiAlignInputInput);
  const Shape &regions = context->input(kRoiAlignRegionsInput)->shape;
  const Shape &images = context->input(kRoiAlignImagesInput)->shape;
  if (input->shape.rank() != 4) {
    return InvalidArgs("the input has the shape ", input->shape.ToString(),
                       "; it must be [N, H, W, C]");
  }
  if (regions.rank() != 2 || regions[1] != 4 || images.rank() != 1 ||
      images[0] != regions[0]) {
    return InvalidArgs("regions of shape ", regions.ToString(),
                       " and images of shape ", images.ToString(),
                       "; they must be [R, 4] and [R]");
  }
  return SetOutput(
      context, 0,
      {regions[0], attributes.height, attributes.width, input->shape.back()},
      input->data_type);
}

}  // namespace mace
