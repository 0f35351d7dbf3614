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
// P = 4. [ceil(O / 32)][steps][4][8 / P][32][P]: element j of lane l in piece p
// of part s is output channel 4 * (l / 4) + s of the block, and number
// 8 * (l % 4) + P * p + j of the 32 inputs of a step. Those are input channels
// of a tap, whose number is rounded up to a multiple of 32, or with
// `few_channels`, four channels of each of 8 taps.
const ConstantForm &MmaFilter(const GpuTraits &gpu, bool few_channels);

// A constant in the order of the model file, as activations are stored: few
// models then need two programs because the converter leaves small constants in
// float.
void AddMmaElements(const GpuTraits &gpu,
                    const char *name,
                    size_t port,
                    Launch *launch);

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
