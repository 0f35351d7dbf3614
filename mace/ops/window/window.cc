// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/window/window.h"

#include <algorithm>
#include <iterator>

#include "mace/core/base/divide.h"

namespace mace {

namespace {

constexpr int64_t kLimit = INT64_C(1) << 31;
constexpr const char *kAxisNames[2] = {"height", "width"};

bool Within(int64_t value, int64_t low) {
  return value >= low && value < kLimit;
}

// Splits the padding that SAME needs; the odd element goes after the input,
// or before it for SAME_LOWER.
void SamePadding(Padding padding,
                 int64_t total,
                 int64_t *before,
                 int64_t *after) {
  const int64_t half = total / 2;
  *before = padding == Padding::SAME_LOWER ? total - half : half;
  *after = total - *before;
}

}  // namespace

Result<WindowGeometry> ComputeWindow(const WindowSpec &spec,
                                     int64_t height,
                                     int64_t width) {
  WindowGeometry geometry;
  geometry.padding = spec.padding;
  const int64_t sizes[2] = {height, width};
  for (int axis = 0; axis < 2; ++axis) {
    const int64_t size = sizes[axis];
    const int64_t stride = spec.stride[axis];
    WindowAxis &own = geometry.axis[axis];
    own.size = size;
    own.kernel = spec.kernel[axis];
    own.stride = stride;
    own.dilation = spec.dilation[axis];
    int64_t &before = own.pad_before;
    int64_t &after = own.pad_after;
    if (spec.padding == Padding::EXPLICIT) {
      before = spec.pads[axis];
      after = spec.pads[axis + 2];
    }
    if (!Within(size, 0) || !Within(spec.kernel[axis], 1) ||
        !Within(stride, 1) || !Within(spec.dilation[axis], 1) ||
        !Within(before, 0) || !Within(after, 0)) {
      return InvalidArgs("input ", kAxisNames[axis], " ", size, ", kernel ",
                         spec.kernel[axis], ", stride ", stride, ", dilation ",
                         spec.dilation[axis], " or padding ", before, " + ",
                         after, " is out of range");
    }
    if (size == 0) continue;
    const int64_t extent = WindowExtent(spec.kernel[axis], spec.dilation[axis]);
    if (spec.padding == Padding::SAME || spec.padding == Padding::SAME_LOWER) {
      const int64_t output = (size - 1) / stride + 1;
      const int64_t needed = (output - 1) * stride + extent - size;
      own.output = output;
      SamePadding(spec.padding, needed > 0 ? needed : 0, &before, &after);
      continue;
    }
    const int64_t slack = size + before + after - extent;
    if (slack < 0) {
      return InvalidArgs("a window of ", extent,
                         " elements does not fit into the input's ",
                         kAxisNames[axis], " of ", size, " with padding ",
                         before, " + ", after);
    }
    int64_t output = slack / stride + 1;
    if (spec.ceil_mode) {
      const int64_t rounded_up = (slack + stride - 1) / stride + 1;
      const int64_t starting_before_end = (size + before - 1) / stride + 1;
      output = std::min(rounded_up, starting_before_end);
    }
    own.output = output;
  }
  return geometry;
}

ConvPoolArgs ReportWindow(const WindowGeometry &geometry,
                          const Shape &kernels) {
  ConvPoolArgs args;
  switch (geometry.padding) {
    case Padding::VALID:
      args.padding_type = 0;
      break;
    case Padding::SAME:
      args.padding_type = 1;
      break;
    default:
      args.padding_type = -1;
      break;
  }
  const WindowAxis &rows = geometry.axis[0];
  const WindowAxis &columns = geometry.axis[1];
  const int64_t strides[] = {rows.stride, columns.stride};
  const int64_t dilations[] = {rows.dilation, columns.dilation};
  const int64_t pads[] = {rows.pad_before, columns.pad_before, rows.pad_after,
                          columns.pad_after};
  args.strides.assign(std::begin(strides), std::end(strides));
  args.dilations.assign(std::begin(dilations), std::end(dilations));
  args.paddings.assign(std::begin(pads), std::end(pads));
  args.kernels.assign(kernels.begin(), kernels.end());
  return args;
}

RowRange RowsUnder(const WindowAxis &windows, const RowRange &output) {
  const int64_t size = windows.size;
  const int64_t bottom = windows.Begin(output.end - 1) +
                         WindowExtent(windows.kernel, windows.dilation);
  RowRange rows;
  rows.begin =
      std::min(std::max<int64_t>(windows.Begin(output.begin), 0), size - 1);
  rows.end = std::max(rows.begin + 1, std::min(bottom, size));
  return rows;
}

WindowTaps TapsOf(const WindowAxis &axis, int64_t window) {
  const int64_t start = axis.Begin(window);
  const int64_t kernel = axis.kernel;
  const int64_t dilation = axis.dilation;
  const int64_t size = axis.size;
  WindowTaps taps;
  const int64_t skip = start < 0 ? DivideUp(-start, dilation) : 0;
  const int64_t end =
      std::min(kernel, start < size ? DivideUp(size - start, dilation) : 0);
  taps.first = start + skip * dilation;
  taps.inside = std::max<int64_t>(0, end - skip);
  const int64_t padded_size = size + axis.pad_after;
  taps.padded = std::min(kernel, start < padded_size
                                     ? DivideUp(padded_size - start, dilation)
                                     : 0);
  return taps;
}

}  // namespace mace
