// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_OPS_CONV2D_DEPTHWISE_CONV2D_H_
#define MACE_OPS_CONV2D_DEPTHWISE_CONV2D_H_

#include "mace/ops/conv2d/depthwise_conv2d_schema.h"
#include "mace/ops/window/window.h"

namespace mace {

// The positions of the windows of a filter of that shape in the input.
inline Result<WindowGeometry> DepthwiseConv2dWindow(
    const DepthwiseConv2dAttributes &attributes,
    const Shape &input,
    const Shape &filter) {
  return ComputeWindow(MakeWindowSpec(attributes, filter[0], filter[1]),
                       input[1], input[2]);
}

}  // namespace mace

#endif  // MACE_OPS_CONV2D_DEPTHWISE_CONV2D_H_
