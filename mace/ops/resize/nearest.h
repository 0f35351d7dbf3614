// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Resize NEAREST: copies elements of any type.

#ifndef MACE_OPS_RESIZE_NEAREST_H_
#define MACE_OPS_RESIZE_NEAREST_H_

#include <cstdint>

#include "mace/core/model/tensor.h"
#include "mace/ops/resize/resize.h"

namespace mace {

// Computes rows [begin, end) of the output, counted through the batch. Both
// tensors are [N, H, W, C], not empty, and of one type; their pixels may be
// strided.
void CopyNearestRows(const ResizeTaps &rows,
                     const ResizeTaps &columns,
                     const Tensor &input,
                     int64_t begin,
                     int64_t end,
                     Tensor *output);

}  // namespace mace

#endif  // MACE_OPS_RESIZE_NEAREST_H_
