// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_OPS_CONV2D_CONV2D_H_
#define MACE_OPS_CONV2D_CONV2D_H_

#include "mace/ops/conv2d/conv2d_schema.h"
#include "mace/ops/window/window.h"

namespace mace {

// The positions of the windows of a filter of that shape in the input.
inline Result<WindowGeometry> Conv2DWindow(const Conv2DAttributes &attributes,
                                           const Shape &input,
                                           const Shape &filter) {
  return ComputeWindow(MakeWindowSpec(attributes, filter[1], filter[2]),
                       input[1], input[2]);
}

// Whether each output depends on the input at the same position alone.
inline bool IsPointwise(const WindowGeometry &window) {
  for (const WindowAxis &axis : window.axis) {
    if (axis.kernel != 1 || axis.stride != 1 || axis.pad_before != 0 ||
        axis.output != axis.size) {
      return false;
    }
  }
  return true;
}

}  // namespace mace

#endif  // MACE_OPS_CONV2D_CONV2D_H_
