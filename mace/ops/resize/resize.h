// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The input positions and weights of the outputs of a resize, along one axis.

#ifndef MACE_OPS_RESIZE_RESIZE_H_
#define MACE_OPS_RESIZE_RESIZE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mace/core/base/shape.h"
#include "mace/ops/resize/resize_schema.h"

namespace mace {

struct ResizeAxis {
  int64_t input = 0;   // elements, at least 1
  int64_t output = 0;  // elements
  double scale = 0;    // as the model gives it; 0: output / input
};

// Output i is the sum of weights[i * taps + k] * input[first[i] + k] over k;
// every first[i] + taps is at most the length of the input.
struct ResizeTaps {
  int64_t taps = 1;
  std::vector<int32_t> first;
  std::vector<float> weights;  // empty for NEAREST: one tap of weight 1
};

// The rows (0) or columns (1) of images that are resized to those of `output`.
ResizeAxis ResizeAxisOf(const ResizeAttributes &attributes,
                        const Shape &input,
                        const Shape &output,
                        size_t axis);

ResizeTaps PlanResizeAxis(const ResizeAttributes &attributes,
                          const ResizeAxis &axis);

}  // namespace mace

#endif  // MACE_OPS_RESIZE_RESIZE_H_
