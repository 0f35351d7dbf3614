// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The positions of windows in a transposed convolution.
//
// Input i contributes to outputs i * stride - pad + k * dilation, for every
// kernel element k. Outputs that are `stride` apart form a phase: they have the
// same kernel elements, and their sums are those of a convolution of stride 1
// with these elements. A transposed convolution therefore consists of one
// convolution per phase, and no two of them write the same output.

#ifndef MACE_KERNELS_CPU_CONV_TRANSPOSED_AXIS_H_
#define MACE_KERNELS_CPU_CONV_TRANSPOSED_AXIS_H_

#include <cstdint>
#include <vector>

#include "mace/kernels/cpu/conv/conv.h"

namespace mace::conv {

// Along one axis.
struct TransposedAxis {
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_before = 0;      // outputs dropped at the start
  int64_t pad_after = 0;       // and at the end
  int64_t output_padding = 0;  // outputs added at the end
};

// The axes of a transposed convolution, vertical and horizontal.
inline void AxesOf(const Shape &s, TransposedAxis (&axes)[2]) {
  axes[0] = {s.kernel_h, s.stride_h, s.dilation_h, s.pad_top, 0, 0};
  axes[1] = {s.kernel_w, s.stride_w, s.dilation_w, s.pad_left, 0, 0};
}

// Outputs first, first + stride, ...; the t-th of them has inputs t - pad + j *
// dilation with kernel elements last_tap - j * tap_step, for j in [0, taps).
struct TransposedPhase {
  int64_t first = 0;
  int64_t taps = 0;  // 0: nothing is added to these outputs
  int64_t last_tap = 0;
  int64_t tap_step = 1;
  int64_t dilation = 1;
  int64_t pad = 0;          // may be negative
  int64_t taps_before = 0;  // of the phases before this one
};

// One phase for each of the first `stride` outputs, in order.
std::vector<TransposedPhase> TransposedPhases(const TransposedAxis &axis);

// The number of outputs of a phase among `size` outputs.
inline int64_t PhaseOutputs(const TransposedPhase &phase,
                            const TransposedAxis &axis,
                            int64_t size) {
  return size <= phase.first ? 0 : (size - phase.first - 1) / axis.stride + 1;
}

}  // namespace mace::conv

#endif  // MACE_KERNELS_CPU_CONV_TRANSPOSED_AXIS_H_
