// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/window/transposed_window.h"

#include <cstddef>
#include <numeric>

namespace mace {

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
    // The input that output `first` meets with this element, the last so far.
    phase.pad = (shift - first) / stride;
  }
  int64_t taps = 0;
  for (TransposedPhase &phase : phases) {
    phase.taps_before = taps;
    taps += phase.taps;
  }
  return phases;
}

Result<int64_t> TransposedOutput(const std::string &op_name,
                                 const char *axis_name,
                                 const TransposedAxis &axis,
                                 int64_t size) {
  constexpr int64_t kLimit = INT64_C(1) << 31;
  auto within = [](int64_t value, int64_t low) {
    return value >= low && value < kLimit;
  };
  if (!within(size, 0) || !within(axis.kernel, 1) || !within(axis.stride, 1) ||
      !within(axis.dilation, 1) || !within(axis.pad_before, 0) ||
      !within(axis.pad_after, 0) || !within(axis.output_padding, 0)) {
    return InvalidArgs(
        "operator '", op_name, "': input ", axis_name, " ", size, ", kernel ",
        axis.kernel, ", stride ", axis.stride, ", dilation ", axis.dilation,
        ", padding ", axis.pad_before, " + ", axis.pad_after,
        " or output padding ", axis.output_padding, " is out of range");
  }
  if (size == 0) return int64_t{0};
  // Two products below 2^62 each.
  const int64_t reach = axis.stride * (size - 1) + 1;
  const int64_t extent = (axis.kernel - 1) * axis.dilation;
  const int64_t pads = axis.pad_before + axis.pad_after - axis.output_padding;
  if (reach > kLimit || extent > kLimit || !within(reach + extent - pads, 1)) {
    return InvalidArgs("operator '", op_name, "': an input ", axis_name, " of ",
                       size, " with kernel ", axis.kernel, ", stride ",
                       axis.stride, ", dilation ", axis.dilation, ", padding ",
                       axis.pad_before, " + ", axis.pad_after,
                       " and output padding ", axis.output_padding,
                       " makes an output of no possible size");
  }
  return reach + extent - pads;
}

ConvPoolArgs ReportTransposed(const TransposedAxis &rows,
                              const TransposedAxis &columns,
                              const Shape &kernels) {
  ConvPoolArgs args;
  args.padding_type = -1;  // as the numbers say
  for (const TransposedAxis *axis : {&rows, &columns}) {
    args.strides.push_back(static_cast<int>(axis->stride));
    args.dilations.push_back(static_cast<int>(axis->dilation));
  }
  for (const int64_t pad : {rows.pad_before, columns.pad_before, rows.pad_after,
                            columns.pad_after}) {
    args.paddings.push_back(static_cast<int>(pad));
  }
  args.kernels.assign(kernels.begin(), kernels.end());
  return args;
}

}  // namespace mace
