// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Winograd's method for 3x3 convolutions on GPUs: when it is used, and the
// filter's layout.

#ifndef MACE_OPS_OPENCL_OP_WINOGRAD_CONV_H_
#define MACE_OPS_OPENCL_OP_WINOGRAD_CONV_H_

#include <cstdint>

#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {

struct WinogradTiles {
  int outputs = 0;   // of a tile in each direction: 2 or 4; 0: not this method
  int64_t rows = 0;  // of tiles, in the whole batch
  int64_t rows_of_image = 0;
  int64_t columns = 0;
  // Between the transforms and the products, also where activations are half:
  // values of tiles of 4 are up to 26 times as large as the inputs, and their
  // differences are what counts.
  bool in_float = false;

  int64_t points() const { return int64_t{outputs + 2} * (outputs + 2); }
  GpuDims Points(int64_t channels) const {
    return {points(), rows, columns, channels};
  }
};

// For a 3x3 convolution of stride 1 without dilation and groups. `most`: the
// deployment's largest tile, 0, 2 or 4.
WinogradTiles ChooseWinograd(const GpuTraits &gpu,
                             int most,
                             const GpuDims &in,
                             const GpuDims &out);

// Of a filter [O, 3, 3, I] in CL_PACKED_O16: the same for each point, [16 or
// 36][ceil(O / 16)][I][16], in the filter's type.
const ConstantForm &WinogradFilter(int outputs);

}  // namespace mace

#endif  // MACE_OPS_OPENCL_OP_WINOGRAD_CONV_H_
