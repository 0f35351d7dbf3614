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

// Of so many input channels FEW_CHANNELS is for.
constexpr int64_t kMmaFewChannels = 4;

// A filter [O, KH, KW, I] or [O, I] in CL_PACKED_O16 with one group, as
// activations are stored: half, with P = 8 elements in 16 bytes, or float, with
// P = 4. [ceil(O / 32)][taps][steps][4][8 / P][G][T][P]: element j of number
// (g, t) in piece p of part s is output channel 4 * g + s of the block, and
// input 8 * t + P * p + j of the step. A step is 32 input channels of a tap, or
// with `few_channels`, where all is one tap, four channels of each of 8 taps. T
// is 4, or as many as the last step has times 8 inputs; G is 8, or as many as
// the last block has times 4 channels.
const ConstantForm &MmaFilter(const GpuTraits &gpu, bool few_channels);

// The input. In half, matrix units get it rounded.
void AddMmaInput(const GpuTraits &gpu, size_t port, Launch *launch);

// Of weights and an image.
struct MmaProduct {
  int64_t channels;  // of the output
  int64_t pixels;    // of the output
  int64_t steps;     // of 32 inputs
  // A step begins with a depthwise convolution, which the warps of the same
  // pixels share.
  bool depthwise;
};

// Adds the macro MMA_FLOAT, the argument `split`, and the numbers of items.
void DivideMma(const OpenclPlanContext &context,
               const MmaProduct &product,
               Launch *launch);

}  // namespace mace

#endif  // MACE_OPS_OPENCL_OP_MMA_CONV_H_
