// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Where the windows of a transposed convolution lie.
//
// Input i meets outputs i * stride - pad + k * dilation, k over the kernel.
// Seen from the output: outputs that are `stride` apart, a phase of them, meet
// the same elements of the kernel, and their sums are those of a convolution of
// stride 1 by these elements. A transposed convolution is therefore as many
// convolutions as there are phases, no two of which write the same output.

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
  int64_t pad_before = 0;      // outputs dropped in front
  int64_t pad_after = 0;       // and behind
  int64_t output_padding = 0;  // outputs added behind
};

// Those of a transposed convolution, vertical and horizontal.
inline void AxesOf(const Shape &s, TransposedAxis (&axes)[2]) {
  axes[0] = {s.kernel_h, s.stride_h, s.dilation_h, s.pad_top, 0, 0};
  axes[1] = {s.kernel_w, s.stride_w, s.dilation_w, s.pad_left, 0, 0};
}

// Outputs first, first + stride, ...; number t of them meets inputs
// t - pad + j * dilation with kernel elements last_tap - j * tap_step, for j in
// [0, taps).
struct TransposedPhase {
  int64_t first = 0;
  int64_t taps = 0;  // 0: nothing is added to these outputs
  int64_t last_tap = 0;
  int64_t tap_step = 1;
  int64_t dilation = 1;
  int64_t pad = 0;          // may be negative
  int64_t taps_before = 0;  // of the phases before this one
};

// A phase for each of the first `stride` outputs, in order.
std::vector<TransposedPhase> TransposedPhases(const TransposedAxis &axis);

// Outputs of a phase among `size`.
inline int64_t PhaseOutputs(const TransposedPhase &phase,
                            const TransposedAxis &axis,
                            int64_t size) {
  return size <= phase.first ? 0 : (size - phase.first - 1) / axis.stride + 1;
}

}  // namespace mace::conv

#endif  // MACE_KERNELS_CPU_CONV_TRANSPOSED_AXIS_H_
