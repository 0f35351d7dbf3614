// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/window/transposed_window.h"

namespace mace {

Result<int64_t> TransposedOutput(const char *axis_name,
                                 const TransposedAxis &axis,
                                 int64_t size) {
  constexpr int64_t kLimit = INT64_C(1) << 31;
  auto within = [](int64_t value, int64_t low) {
    return value >= low && value < kLimit;
  };
  if (!within(size, 0) || !within(axis.kernel, 1) || !within(axis.stride, 1) ||
      !within(axis.dilation, 1) || !within(axis.pad_before, 0) ||
      !within(axis.pad_after, 0) || !within(axis.output_padding, 0)) {
    return InvalidArgs("input ", axis_name, " ", size, ", kernel ", axis.kernel,
                       ", stride ", axis.stride, ", dilation ", axis.dilation,
                       ", padding ", axis.pad_before, " + ", axis.pad_after,
                       " or output padding ", axis.output_padding,
                       " is out of range");
  }
  if (size == 0) return int64_t{0};
  // Two products, each below 2^62.
  const int64_t reach = axis.stride * (size - 1) + 1;
  const int64_t extent = (axis.kernel - 1) * axis.dilation;
  const int64_t pads = axis.pad_before + axis.pad_after - axis.output_padding;
  if (reach > kLimit || extent > kLimit || !within(reach + extent - pads, 1)) {
    return InvalidArgs("an input ", axis_name, " of ", size, " with kernel ",
                       axis.kernel, ", stride ", axis.stride, ", dilation ",
                       axis.dilation, ", padding ", axis.pad_before, " + ",
                       axis.pad_after, " and output padding ",
                       axis.output_padding,
                       " gives an output size that is negative or too large");
  }
  return reach + extent - pads;
}

ConvPoolArgs ReportTransposed(const TransposedAxis &rows,
                              const TransposedAxis &columns,
                              const Shape &kernels) {
  ConvPoolArgs args;
  args.padding_type = -1;  // explicit, as the numbers show
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
