// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_OPS_POOLING_POOLING_H_
#define MACE_OPS_POOLING_POOLING_H_

#include "mace/ops/pooling/pooling_schema.h"
#include "mace/ops/window/window.h"

namespace mace {

// The positions of the windows in an input [N, H, W, C].
inline Result<WindowGeometry> PoolingWindow(const PoolingAttributes &attributes,
                                            const Shape &input) {
  WindowSpec spec =
      MakeWindowSpec(attributes, attributes.kernels[0], attributes.kernels[1]);
  spec.ceil_mode = attributes.ceil_mode;
  return ComputeWindow(spec, input[1], input[2]);
}

}  // namespace mace

#endif  // MACE_OPS_POOLING_POOLING_H_
