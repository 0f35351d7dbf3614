// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/conv/transposed_axis.h"

#include <cstddef>
#include <numeric>

namespace mace::conv {

std::vector<TransposedPhase> TransposedPhases(const TransposedAxis &axis) {
  const int64_t stride = axis.stride;
  const int64_t common = std::gcd(stride, axis.dilation);
  std::vector<TransposedPhase> phases(static_cast<size_t>(stride));
  for (int64_t i = 0; i < stride; ++i) {
    phases[static_cast<size_t>(i)].first = i;
  }
  for (int64_t k = 0; k < axis.kernel; ++k) {
    const int64_t shift = k * axis.dilation - axis.pad_before;
    const int64_t first = (shift % stride + stride) % stride;
    TransposedPhase &phase = phases[static_cast<size_t>(first)];
    phase.tap_step = stride / common;
    phase.dilation = axis.dilation / common;
    phase.last_tap = k;
    ++phase.taps;
    // The input that this element contributes to output `first`; the last input
    // so far.
    phase.pad = (shift - first) / stride;
  }
  int64_t taps = 0;
  for (TransposedPhase &phase : phases) {
    phase.taps_before = taps;
    taps += phase.taps;
  }
  return phases;
}

}  // namespace mace::conv
