// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/roi_align/roi_align_schema.h"
#include "mace/ops/shape_rules/region_shapes.h"

namespace mace {

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

}  // namespace mace
