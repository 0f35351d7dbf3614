// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Where the windows of a transposed convolution lie.
//
// Input i meets outputs i * stride - pad + k * dilation, k over the kernel.
// Seen from the output: outputs that are `stride` apart, a phase of them, meet
// the same elements of the kernel, and their sums are those of a convolution of
// stride 1 by these elements. A transposed convolution is therefore as many
// convolutions as there are phases, no two of which write the same output.

#ifndef MACE_OPS_WINDOW_TRANSPOSED_WINDOW_H_
#define MACE_OPS_WINDOW_TRANSPOSED_WINDOW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "mace/core/base/shape.h"
#include "mace/core/base/status.h"
#include "mace/public/mace.h"

namespace mace {

// Along one axis.
struct TransposedAxis {
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_before = 0;      // outputs dropped in front
  int64_t pad_after = 0;       // and behind
  int64_t output_padding = 0;  // outputs added behind
};

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

// stride * (size - 1) + extent of the kernel - pads + output_padding for an
// input of `size` > 0; of 0 for one of 0. INVALID_ARGS naming `op_name` and
// `axis_name` unless the result is in [1, 2^31).
Result<int64_t> TransposedOutput(const std::string &op_name,
                                 const char *axis_name,
                                 const TransposedAxis &axis,
                                 int64_t size);

// Takes the attributes strides, pads, dilations and output_padding of an
// operator; 0 is vertical, 1 horizontal.
template <typename Attributes>
TransposedAxis MakeTransposedAxis(const Attributes &attributes,
                                  int index,
                                  int64_t kernel) {
  TransposedAxis axis;
  axis.kernel = kernel;
  axis.stride = attributes.strides[index];
  axis.dilation = attributes.dilations[index];
  axis.pad_before = attributes.pads[index];
  axis.pad_after = attributes.pads[index + 2];
  axis.output_padding = attributes.output_padding[index];
  return axis;
}

// For reports. `kernels` is the filter's shape.
ConvPoolArgs ReportTransposed(const TransposedAxis &rows,
                              const TransposedAxis &columns,
                              const Shape &kernels);

}  // namespace mace

#endif  // MACE_OPS_WINDOW_TRANSPOSED_WINDOW_H_
