// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/window/conv_testing.h"

namespace mace::op_test {

Shape ConvShape(const Shape &x, const Shape &f, const NaiveConv &n) {
  Shape shape{x[0], 0, 0, f[0]};
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t extent = (f[axis + 1] - 1) * n.dilation[axis] + 1;
    shape[axis + 1] = (x[axis + 1] + n.pads[axis] + n.pads[axis + 2] - extent) /
                          n.stride[axis] +
                      1;
  }
  return shape;
}

std::vector<double> Convolve(const Value &input,
                             const Value &filter,
                             const std::vector<float> &bias,
                             const NaiveConv &n) {
  const Shape &x = input.shape;
  const Shape &f = filter.shape;
  const Shape y = ConvShape(x, f, n);
  const std::vector<float> xs = input.floats();
  const std::vector<float> fs = filter.floats();
  std::vector<double> out;
  for (int64_t b = 0; b < y[0]; ++b) {
    for (int64_t oh = 0; oh < y[1]; ++oh) {
      for (int64_t ow = 0; ow < y[2]; ++ow) {
        for (int64_t o = 0; o < y[3]; ++o) {
          double sum = bias.empty() ? 0.0 : bias[static_cast<size_t>(o)];
          const int64_t first = o / (f[0] / n.groups) * f[3];
          for (int64_t i = 0; i < f[1]; ++i) {
            for (int64_t j = 0; j < f[2]; ++j) {
              const int64_t h =
                  oh * n.stride[0] - n.pads[0] + i * n.dilation[0];
              const int64_t w =
                  ow * n.stride[1] - n.pads[1] + j * n.dilation[1];
              if (h < 0 || h >= x[1] || w < 0 || w >= x[2]) continue;
              for (int64_t c = 0; c < f[3]; ++c) {
                const int64_t at = ((b * x[1] + h) * x[2] + w) * x[3];
                sum += static_cast<double>(
                           xs[static_cast<size_t>(at + first + c)]) *
                       fs[static_cast<size_t>(
                           ((o * f[1] + i) * f[2] + j) * f[3] + c)];
              }
            }
          }
          out.push_back(sum);
        }
      }
    }
  }
  return out;
}

Value AsGroups(const Value &depthwise) {
  const Shape &f = depthwise.shape;
  const std::vector<float> from = depthwise.floats();
  const auto taps = static_cast<size_t>(f[0] * f[1]);
  const size_t outputs = from.size() / taps;
  std::vector<float> to;
  for (size_t i = 0; i < from.size(); ++i) {
    to.push_back(from[i % taps * outputs + i / taps]);
  }
  return Value::Floats({f[2] * f[3], f[0], f[1], 1}, to);
}

}  // namespace mace::op_test
