// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/grid_sample/grid_sample_schema.h"

namespace mace {

MaceStatus InferGridSampleShapes(const GridSampleAttributes &attributes,
                                 ShapeContext *context) {
  const Tensor *input = context->input(kGridSampleInputInput);
  const Shape &image = input->shape;
  const Shape &grid = context->input(kGridSampleGridInput)->shape;
  const size_t rank = image.rank();
  if (rank != 4 && rank != 5) {
    return InvalidArgs("an image of ", rank,
                       " dimensions; 4 and 5 are supported");
  }
  if (attributes.mode == GridSampleMode::CUBIC && rank != 4) {
    return InvalidArgs("mode CUBIC takes images of 4 dimensions only");
  }
  if (grid.rank() != rank || grid[0] != image[0] ||
      grid.back() != static_cast<int64_t>(rank) - 2) {
    return InvalidArgs("a grid of shape ", grid.ToString(),
                       " does not fit an image of shape ", image.ToString());
  }
  Shape output = grid;
  output[rank - 1] = image.back();
  if (image.Elements(1, rank - 1) == 0 && output.Elements() != 0) {
    return InvalidArgs("an image without pixels");
  }
  return SetOutput(context, 0, output, input->data_type);
}

}  // namespace mace
