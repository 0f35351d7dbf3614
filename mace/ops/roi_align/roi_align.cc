// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/roi_align/roi_align_schema.h"

namespace mace {

MaceStatus InferRoiAlignShapes(const RoiAlignAttributes &attributes,
                               ShapeContext *context) {
  const Tensor *input = context->input(kRoiAlignInputInput);
  const Shape &regions = context->input(kRoiAlignRegionsInput)->shape;
  const Tensor *images = context->input(kRoiAlignImagesInput);
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
  return SetOutput(
      context, 0,
      {count, attributes.height, attributes.width, input->shape.back()},
      input->data_type);
}

}  // namespace mace
