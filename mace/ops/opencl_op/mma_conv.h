// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Convolutions by the matrix units of NVIDIA GPUs
// (mace/kernels/opencl/mma.clh): the filter's layout, and how the work is
// divided.

#ifndef MACE_OPS_OPENCL_OP_MMA_CONV_H_
#define MACE_OPS_OPENCL_OP_MMA_CONV_H_

#include <cstdint>

#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {

// Half, [ceil(O / 32)][KH * KW][ceil(I / 32)][4][32][8]: element j of lane l in
// part s is output channel 4 * (l / 4) + s of the block and input channel
// 8 * (l % 4) + j. Of a filter [O, KH, KW, I] or [O, I] in CL_PACKED_O16 with
// one group.
extern const ConstantForm kMmaFilter;

// Adds the macro TILES, the argument `split`, and the numbers of items.
// `steps`: KH * KW * ceil(I / 32). `depthwise`: a step begins with a depthwise
// convolution, which the warps of the same pixels share.
void DivideMma(const GpuTraits &gpu,
               int64_t channels,
               int64_t pixels,
               int64_t steps,
               bool depthwise,
               Launch *launch);

}  // namespace mace

#endif  // MACE_OPS_OPENCL_OP_MMA_CONV_H_
