// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/im2col/im2col.h"

namespace mace {

MaceStatus InferIm2ColShapes(const Im2ColAttributes &attributes,
                             ShapeContext *context) {
  const Tensor &input = *context->input(kIm2ColInputInput);
  const Shape &shape = input.shape;
  if (shape.rank() != 4) {
    return InvalidArgs("expects [N, H, W, C], not ", shape.ToString());
  }
  const Tensor *outside = context->input(kIm2ColOutsideInput);
  if (outside != nullptr) {
    if (outside->data_type != input.data_type ||
        outside->shape.Elements() != 1) {
      return InvalidArgs("outside must be one number of the input's type, not ",
                         outside->shape.ToString());
    }
  }
  MACE_ASSIGN_OR_RETURN(const WindowGeometry geometry,
                        Im2ColWindow(attributes, shape));
  const int64_t taps = attributes.kernels[0] * attributes.kernels[1];
  return SetOutput(context, 0,
                   {shape[0], geometry.axis[0].output, geometry.axis[1].output,
                    taps * shape[3]},
                   input.data_type);
}

}  // namespace mace
