// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_OPS_STRIDED_SLICE_STRIDED_SLICE_H_
#define MACE_OPS_STRIDED_SLICE_STRIDED_SLICE_H_

#include "mace/ops/strided_slice/strided_slice_schema.h"

namespace mace {

// The remaining part of one axis.
struct Cut {
  int64_t begin = 0;
  int64_t stride = 1;
  int64_t length = 0;
};

// The attributes must be valid for the shape.
void FindCuts(const StridedSliceAttributes &attributes,
              const Shape &shape,
              Cut (&cuts)[Shape::kMaxRank]);

}  // namespace mace

#endif  // MACE_OPS_STRIDED_SLICE_STRIDED_SLICE_H_
