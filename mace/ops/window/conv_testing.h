// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The reference of convolution tests: the definition, in double.

#ifndef MACE_OPS_WINDOW_CONV_TESTING_H_
#define MACE_OPS_WINDOW_CONV_TESTING_H_

#include <cstdint>
#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace::op_test {

// With explicit padding: before in height and width, then after.
struct NaiveConv {
  int64_t stride[2] = {1, 1};
  int64_t dilation[2] = {1, 1};
  int64_t pads[4] = {0, 0, 0, 0};
  int64_t groups = 1;
};

// x: [N, H, W, C]; f: [O, KH, KW, C / groups].
Shape ConvShape(const Shape &x, const Shape &f, const NaiveConv &n);

// The output's elements; `bias` may be empty.
std::vector<double> Convolve(const Value &input,
                             const Value &filter,
                             const std::vector<float> &bias,
                             const NaiveConv &n);

// A depthwise filter, [KH, KW, C, M], as a filter of C groups: [C * M, KH, KW,
// 1].
Value AsGroups(const Value &depthwise);

// For sums of a few hundred products of values of at most 1.
inline constexpr Tolerance kConvTolerance = {2e-5, 2e-5};

// The reference of transposed convolution tests: the definition, in double.

// Pads are removed from the output: at the top and left, then at the bottom and
// right.
struct TransposedGeometry {
  int64_t strides[2] = {1, 1};
  int64_t pads[4] = {0, 0, 0, 0};
  int64_t output_padding[2] = {0, 0};
  int64_t dilations[2] = {1, 1};
  int64_t groups = 1;
};

// The same values in height and width, and on all sides.
TransposedGeometry Strided(int64_t stride, int64_t pad);

// `op_case` with these attributes, without groups, which not all operators
// have.
OpCase WithGeometry(OpCase op_case, const TransposedGeometry &g);

// x: [N, H, W, C]; f: [O, KH, KW, C / groups].
Shape TransposedShape(const Shape &x,
                      const Shape &f,
                      const TransposedGeometry &g);

// The output's elements; `bias`, [O], may be empty.
std::vector<double> ConvolveTransposed(const Value &input,
                                       const Value &filter,
                                       const std::vector<float> &bias,
                                       const TransposedGeometry &g);

}  // namespace mace::op_test

#endif  // MACE_OPS_WINDOW_CONV_TESTING_H_
