// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Window positions of convolution and pooling: output sizes and padding.

#ifndef MACE_OPS_WINDOW_WINDOW_H_
#define MACE_OPS_WINDOW_WINDOW_H_

#include <algorithm>
#include <cstdint>

#include "mace/core/base/shape.h"
#include "mace/core/base/status.h"
#include "mace/ops/op_enums.h"
#include "mace/public/mace_statistics.h"

namespace mace {

// A window as in the attributes. Index 0 is vertical, 1 horizontal.
struct WindowSpec {
  int64_t kernel[2] = {1, 1};
  int64_t stride[2] = {1, 1};
  int64_t dilation[2] = {1, 1};
  Padding padding = Padding::VALID;
  int64_t pads[4] = {0, 0, 0, 0};  // top, left, bottom, right; EXPLICIT only
  // Round the output size up. A window that would start in the padding after
  // the input is dropped.
  bool ceil_mode = false;
};

// Rows [begin, end) of an image.
struct RowRange {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t count() const { return end - begin; }
  bool empty() const { return end <= begin; }
};

// Windows along one axis of an image.
struct WindowAxis {
  int64_t size = 1;  // of the image
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_before = 0;
  // The declared padding, without the padding that ceil_mode adds.
  int64_t pad_after = 0;
  int64_t output = 0;

  // The position at which a window begins; negative before the image.
  int64_t Begin(int64_t window) const { return window * stride - pad_before; }
};

// The geometry for a window and an image size; index 0 is vertical.
struct WindowGeometry {
  WindowAxis axis[2];
  Padding padding = Padding::VALID;
};

// Elements that a dilated kernel spans.
inline constexpr int64_t WindowExtent(int64_t kernel, int64_t dilation) {
  return (kernel - 1) * dilation + 1;
}

// Reads the attributes strides, padding, pads and dilations of an operator.
template <typename Attributes>
WindowSpec MakeWindowSpec(const Attributes &attributes,
                          int64_t kernel_height,
                          int64_t kernel_width) {
  WindowSpec spec;
  spec.kernel[0] = kernel_height;
  spec.kernel[1] = kernel_width;
  for (int axis = 0; axis < 2; ++axis) {
    spec.stride[axis] = attributes.strides[axis];
    spec.dilation[axis] = attributes.dilations[axis];
  }
  spec.padding = attributes.padding;
  for (int side = 0; side < 4; ++side) spec.pads[side] = attributes.pads[side];
  return spec;
}

// Output size and padding for an input of height x width. INVALID_ARGS naming
// the axis if no window fits or a number is out of range: sizes must be in [0,
// 2^31), kernels, strides and dilations in [1, 2^31) and pads in [0, 2^31), so
// that nothing here overflows. An empty input has an empty output.
Result<WindowGeometry> ComputeWindow(const WindowSpec &spec,
                                     int64_t height,
                                     int64_t width);

// The rows of an image that the windows of these outputs read: at least one, in
// the image; if all are outside of it, any row. If `output` begins or ends
// later, so does the result, or it stays the same.
RowRange RowsUnder(const WindowAxis &windows, const RowRange &output);

// The taps of one window along one axis.
struct WindowTaps {
  int64_t first = 0;   // position in the image of the first tap inside it
  int64_t inside = 0;  // taps inside the image
  int64_t padded = 0;  // taps inside the image or its declared padding
};
WindowTaps TapsOf(const WindowAxis &axis, int64_t window);

// A window for reports. `kernels` is the filter's shape, or [height, width].
ConvPoolArgs ReportWindow(const WindowGeometry &geometry, const Shape &kernels);

// Elements after the image that windows read, whatever rounding made their
// number: more than the declared padding with ceil_mode, or less.
inline int64_t PaddingAfter(const WindowAxis &axis) {
  const int64_t end =
      axis.Begin(axis.output - 1) + WindowExtent(axis.kernel, axis.dilation);
  return std::max<int64_t>(end - axis.size, 0);
}

}  // namespace mace

#endif  // MACE_OPS_WINDOW_WINDOW_H_
