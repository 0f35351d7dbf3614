// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Outputs to which nothing is added.

#ifndef MACE_OPS_EPILOGUE_BIAS_PIXELS_H_
#define MACE_OPS_EPILOGUE_BIAS_PIXELS_H_

#include <algorithm>
#include <cstddef>

#include "mace/ops/epilogue/fused_activation.h"

namespace mace {

// The bias (null: zeros), clamped as `activation` says, to `pixels` pixels of
// `channels` floats, `stride` floats apart. activation.Apply is up to the
// caller.
inline void FillWithBias(const FusedActivation &activation,
                         const float *bias,
                         ptrdiff_t pixels,
                         ptrdiff_t channels,
                         ptrdiff_t stride,
                         float *to) {
  for (ptrdiff_t i = 0; i < pixels; ++i, to += stride) {
    if (bias == nullptr) {
      std::fill(to, to + channels, 0.0f);
    } else {
      std::copy(bias, bias + channels, to);
    }
    if (!activation.clamp()) continue;
    for (ptrdiff_t c = 0; c < channels; ++c) {
      to[c] = std::clamp(to[c], activation.low(), activation.high());
    }
  }
}

}  // namespace mace

#endif  // MACE_OPS_EPILOGUE_BIAS_PIXELS_H_
