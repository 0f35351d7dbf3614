// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/window/conv_testing.h"

#include <algorithm>

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

TransposedGeometry Strided(int64_t stride, int64_t pad) {
  TransposedGeometry g;
  std::fill(g.strides, g.strides + 2, stride);
  std::fill(g.pads, g.pads + 4, pad);
  return g;
}

OpCase WithGeometry(OpCase op_case, const TransposedGeometry &g) {
  auto list = [](const int64_t *values, size_t count) {
    return std::vector<int64_t>(values, values + count);
  };
  return op_case.Ints("strides", list(g.strides, 2))
      .Ints("pads", list(g.pads, 4))
      .Ints("output_padding", list(g.output_padding, 2))
      .Ints("dilations", list(g.dilations, 2));
}

Shape TransposedShape(const Shape &x,
                      const Shape &f,
                      const TransposedGeometry &g) {
  Shape y{x[0], 0, 0, f[0]};
  for (size_t i = 0; i < 2; ++i) {
    y[i + 1] = g.strides[i] * (x[i + 1] - 1) + (f[i + 1] - 1) * g.dilations[i] +
               1 - g.pads[i] - g.pads[i + 2] + g.output_padding[i];
  }
  return y;
}

// Adds every input to the outputs that it contributes to.
std::vector<double> ConvolveTransposed(const Value &input,
                                       const Value &filter,
                                       const std::vector<float> &bias,
                                       const TransposedGeometry &g) {
  const Shape &x = input.shape;
  const Shape &f = filter.shape;
  const Shape y = TransposedShape(x, f, g);
  const std::vector<float> xs = input.floats();
  const std::vector<float> fs = filter.floats();
  std::vector<double> out(static_cast<size_t>(y.Elements()));
  for (size_t i = 0; i < out.size(); ++i) {
    if (!bias.empty()) out[i] = bias[i % bias.size()];
  }
  const int64_t depth = f[3];
  const int64_t outputs = f[0] / g.groups;
  for (int64_t at = 0; at < x.Elements(0, 3); ++at) {
    const int64_t n = at / x[2] / x[1];
    for (int64_t tap = 0; tap < f[1] * f[2]; ++tap) {
      const int64_t h = at / x[2] % x[1] * g.strides[0] - g.pads[0] +
                        tap / f[2] * g.dilations[0];
      const int64_t w =
          at % x[2] * g.strides[1] - g.pads[1] + tap % f[2] * g.dilations[1];
      if (h < 0 || h >= y[1] || w < 0 || w >= y[2]) continue;
      for (int64_t o = 0; o < f[0]; ++o) {
        double sum = 0;
        for (int64_t c = 0; c < depth; ++c) {
          const int64_t from = at * x[3] + o / outputs * depth + c;
          sum += static_cast<double>(xs[static_cast<size_t>(from)]) *
                 fs[static_cast<size_t>((o * f[1] * f[2] + tap) * depth + c)];
        }
        out[static_cast<size_t>(((n * y[1] + h) * y[2] + w) * y[3] + o)] += sum;
      }
    }
  }
  return out;
}

}  // namespace mace::op_test
