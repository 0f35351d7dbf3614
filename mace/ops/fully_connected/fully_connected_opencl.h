// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// What kernels for several operators need of the product of a matrix and
// weights (mace/kernels/opencl/fully_connected.cl).

#ifndef MACE_OPS_FULLY_CONNECTED_FULLY_CONNECTED_OPENCL_H_
#define MACE_OPS_FULLY_CONNECTED_FULLY_CONNECTED_OPENCL_H_

#include <cstddef>
#include <cstdint>

#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {

// How the product is divided among items.
struct ProductDivision {
  int64_t pixels = 1;  // rows that an item computes
  int64_t blocks = 1;  // of output channels, in a work group
  int64_t lanes = 1;   // items that divide K
};

// `depth_blocks`: K in blocks of four.
ProductDivision DivideProduct(const GpuTraits &gpu,
                              int64_t depth_blocks,
                              const GpuDims &out);

// Adds the macros and arguments after the input, of the FullyConnected operator
// `context`. `node`, `output_node`: of operators that are fused, the number of
// this one, and of the one whose output is written.
void AddProduct(const OpenclPlanContext &context,
                const ProductDivision &division,
                Launch *launch,
                size_t node = 0,
                size_t output_node = 0);

}  // namespace mace

#endif  // MACE_OPS_FULLY_CONNECTED_FULLY_CONNECTED_OPENCL_H_
