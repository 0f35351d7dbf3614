// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// How the convolutions of GPUs without matrix units are divided among work
// items.

#ifndef MACE_OPS_OPENCL_OP_CONV_TILE_H_
#define MACE_OPS_OPENCL_OP_CONV_TILE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {

// What one work item computes, and how many items share the products of a tile.
struct ConvTile {
  int pixels;
  int blocks;  // of four output channels
  int split;
};

struct ConvSize {
  int64_t images;  // of a batch, or products of Winograd's method
  int64_t pixels;  // of an output image
  int64_t groups;
  int64_t out_blocks;  // of a group
  int64_t steps;       // taps of the window times blocks of input channels
};

// The tiles that suit the GPU; each is a program to compile. The list is the
// same for all convolutions of a model, and is never empty.
std::vector<ConvTile> ConvTiles(const GpuTraits &gpu);

// The index of the tile that is fastest by a model of the GPU.
size_t ChooseConvTile(const GpuTraits &gpu,
                      const std::vector<ConvTile> &tiles,
                      const ConvSize &size);

// The tile that tuning found fastest for the operator, or else that one. An
// operator chooses once. `source` has the kernel.
ConvTile TunedConvTile(const OpenclPlanContext &context,
                       const ClSource &source,
                       const ConvSize &size);

// Adds the macros of a tile, the arguments that follow from them, which are the
// last of the kernel, and the numbers of items.
void DivideConv(const GpuTraits &gpu,
                const ConvTile &tile,
                const ConvSize &size,
                Launch *launch);

}  // namespace mace

#endif  // MACE_OPS_OPENCL_OP_CONV_TILE_H_
