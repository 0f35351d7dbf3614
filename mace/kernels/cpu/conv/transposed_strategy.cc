// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/conv/strategy.h"

namespace mace::conv {

void Strategies::InitTransposed(CpuIsa isa) {
  in_order_[0] = MakeTransposedColumns(isa);
  in_order_[1] = MakeTransposedDepthwise(isa);
  in_order_[2] = MakeTransposedPhases();
}

}  // namespace mace::conv
