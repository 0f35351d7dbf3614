// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_OPS_CONV2D_IM2COL_H_
#define MACE_OPS_CONV2D_IM2COL_H_

#include "mace/ops/conv2d/im2col_schema.h"
#include "mace/ops/window/window.h"

namespace mace {

// The positions of the windows in an input [N, H, W, C].
inline Result<WindowGeometry> Im2ColWindow(const Im2ColAttributes &attributes,
                                           const Shape &input) {
  return ComputeWindow(
      MakeWindowSpec(attributes, attributes.kernels[0], attributes.kernels[1]),
      input[1], input[2]);
}

}  // namespace mace

#endif  // MACE_OPS_CONV2D_IM2COL_H_
