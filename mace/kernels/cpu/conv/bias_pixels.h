// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Outputs of transposed convolutions that depend on no input.

#ifndef MACE_KERNELS_CPU_CONV_BIAS_PIXELS_H_
#define MACE_KERNELS_CPU_CONV_BIAS_PIXELS_H_

#include <algorithm>
#include <cstddef>

#include "mace/kernels/cpu/conv/conv.h"

namespace mace::conv {

// Writes the bias (null: zeros), clamped as in `epilogue`, to `pixels` pixels
// of `channels` floats, which are `stride` floats apart.
inline void FillWithBias(const gemm::Epilogue &epilogue,
                         ptrdiff_t pixels,
                         ptrdiff_t channels,
                         ptrdiff_t stride,
                         float *to) {
  for (ptrdiff_t i = 0; i < pixels; ++i, to += stride) {
    if (epilogue.bias == nullptr) {
      std::fill(to, to + channels, 0.0f);
    } else {
      std::copy(epilogue.bias, epilogue.bias + channels, to);
    }
    if (!epilogue.clamp) continue;
    for (ptrdiff_t c = 0; c < channels; ++c) {
      to[c] = std::clamp(to[c], epilogue.low, epilogue.high);
    }
  }
}

}  // namespace mace::conv

#endif  // MACE_KERNELS_CPU_CONV_BIAS_PIXELS_H_
