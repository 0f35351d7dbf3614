// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// What the stand-ins for vendors' libraries compute: the definitions, in
// double.

#ifndef TEST_DELEGATES_REFERENCE_H_
#define TEST_DELEGATES_REFERENCE_H_

#include <cstdint>
#include <functional>
#include <vector>

namespace mace::stand_in {

struct Array {
  std::vector<int64_t> dims;
  std::vector<double> values;
};

int64_t Elements(const std::vector<int64_t> &dims);

struct Window {
  int64_t kernel[2];
  int64_t strides[2];
  int64_t dilations[2];
  int64_t pads[4];  // top, bottom, left, right
};

// x: [N, H, W, C]; filter: [O, KH, KW, C / groups]; bias: [O].
Array Convolve(const Array &x,
               const Array &filter,
               const Array &bias,
               const Window &window,
               int64_t groups);
// The average of the elements inside the image, or the maximum.
Array Pool(const Array &x, const Window &window, bool average);
// x: [N, K]; weights: [O, K].
Array Multiply(const Array &x, const Array &weights, const Array &bias);
// By the rules of NumPy.
Array Broadcast(const Array &a,
                const Array &b,
                const std::function<double(double, double)> &function);
Array Map(const Array &x, const std::function<double(double)> &function);
Array Join(const std::vector<Array> &parts, int64_t axis);
Array Softmax(const Array &x, int64_t axis);
Array Mean(const Array &x, const std::vector<int64_t> &axes, bool keep_dims);
Array Resize(const Array &x,
             int64_t height,
             int64_t width,
             bool linear,
             bool align_corners,
             bool half_pixel);

// [KH, KW, C, M] as [C * M, KH, KW, 1].
Array DepthwiseAsGroups(const Array &filter, int64_t channels);

}  // namespace mace::stand_in

#endif  // TEST_DELEGATES_REFERENCE_H_
