// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Window positions of a transposed convolution.

#ifndef MACE_OPS_WINDOW_TRANSPOSED_WINDOW_H_
#define MACE_OPS_WINDOW_TRANSPOSED_WINDOW_H_

#include <cstdint>
#include <numeric>

#include "mace/core/base/shape.h"
#include "mace/core/base/status.h"
#include "mace/kernels/cpu/conv/transposed_axis.h"
#include "mace/public/mace_statistics.h"

namespace mace {

using conv::TransposedAxis;

// stride * (size - 1) + extent of the kernel - pads + output_padding for an
// input of `size` > 0; 0 for an input of size 0. INVALID_ARGS naming
// `axis_name` unless the result is in [1, 2^31).
Result<int64_t> TransposedOutput(const char *axis_name,
                                 const TransposedAxis &axis,
                                 int64_t size);

// Reads the attributes strides, pads, dilations and output_padding of an
// operator; index 0 is vertical, 1 horizontal.
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

// From one kernel element that contributes to an output to the next such
// element, and from its input down to that of the next.
struct TransposedStep {
  int64_t kernel;
  int64_t input;
};
inline TransposedStep TransposedStepOf(const TransposedAxis &axis) {
  const int64_t common = std::gcd(axis.stride, axis.dilation);
  return {axis.stride / common, axis.dilation / common};
}

// For reports. `kernels` is the filter's shape.
ConvPoolArgs ReportTransposed(const TransposedAxis &rows,
                              const TransposedAxis &columns,
                              const Shape &kernels);

}  // namespace mace

#endif  // MACE_OPS_WINDOW_TRANSPOSED_WINDOW_H_
