// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The expected results of a Winograd convolution: the definition in double
// precision, and an error bound computed from the method's matrices.

#include <algorithm>
#include <cmath>
#include <vector>

#include "mace/kernels/cpu/winograd/conv_winograd_testing.h"

namespace mace::winograd {

namespace {

// The matrices of the method, computed from its points. Their element-wise
// absolute values give the largest possible intermediate values, from which the
// bound follows.
struct Matrices {
  int t;
  std::vector<std::vector<double>> input;   // B', t x t
  std::vector<std::vector<double>> filter;  // G, t x 3
  std::vector<std::vector<double>> output;  // A', m x t
};

Matrices MakeMatrices(int tile) {
  std::vector<double> points = {0, 1, -1};
  if (tile == 4) points = {0, 0.75, -0.75, 1.5, -1.5};
  const int t = tile + 2;
  Matrices x;
  x.t = t;
  x.output.assign(Size(tile), std::vector<double>(Size(t), 0.0));
  // Coefficients of the product of (x - q) over all q except one; over all q
  // for infinity. The other rows of infinity are unit vectors.
  for (int i = 0; i < t; ++i) {
    const bool infinity = i == t - 1;
    std::vector<double> polynomial = {1};
    double scale = 1;
    for (int j = 0; j < t - 1; ++j) {
      if (i == j) continue;
      polynomial.insert(polynomial.begin(), 0.0);
      for (size_t k = 0; k + 1 < polynomial.size(); ++k) {
        polynomial[k] -= points[Size(j)] * polynomial[k + 1];
      }
      if (!infinity) scale *= points[Size(i)] - points[Size(j)];
    }
    polynomial.resize(Size(t), 0.0);
    const double p = infinity ? 0 : points[Size(i)];
    x.input.push_back(polynomial);
    if (infinity) {
      x.filter.push_back({0, 0, 1});
      x.output[Size(tile - 1)][Size(i)] = 1;
    } else {
      x.filter.push_back({1 / scale, p / scale, p * p / scale});
      for (int k = 0; k < tile; ++k)
        x.output[Size(k)][Size(i)] = std::pow(p, k);
    }
  }
  return x;
}

// |m| |x| |m|' of a square x of `size`.
std::vector<double> Amplify(const std::vector<std::vector<double>> &m,
                            const std::vector<double> &x,
                            size_t size) {
  std::vector<double> y(m.size() * m.size(), 0.0);
  for (size_t i = 0; i < m.size(); ++i) {
    for (size_t j = 0; j < m.size(); ++j) {
      for (size_t k = 0; k < size; ++k) {
        for (size_t l = 0; l < size; ++l) {
          y[i * m.size() + j] += std::fabs(m[i][k] * x[k * size + l] * m[j][l]);
        }
      }
    }
  }
  return y;
}

double InputAt(const Case &c,
               const Data &d,
               ptrdiff_t n,
               ptrdiff_t h,
               ptrdiff_t w,
               ptrdiff_t ch) {
  const conv::Shape &s = c.shape;
  if (h < 0 || h >= s.in_h || w < 0 || w >= s.in_w) return 0.0;
  return d.input[Size(((n * s.in_h + h) * s.in_w + w) * s.in_c + ch)];
}

double Direct(const Case &c,
              const Data &d,
              ptrdiff_t n,
              ptrdiff_t h,
              ptrdiff_t w,
              ptrdiff_t o) {
  const conv::Shape &s = c.shape;
  double sum = c.bias ? d.bias[Size(o)] : 0.0;
  for (ptrdiff_t tap = 0; tap < 9; ++tap) {
    for (ptrdiff_t ch = 0; ch < s.in_c; ++ch) {
      sum += InputAt(c, d, n, h - s.pad_top + tap / 3 * s.dilation_h,
                     w - s.pad_left + tap % 3 * s.dilation_w, ch) *
             d.filter[Size((o * 9 + tap) * s.in_c + ch)];
    }
  }
  if (c.residual) {
    sum += d.residual[Size(((n * s.out_h + h) * s.out_w + w) * s.out_c + o)];
  }
  return c.clamp ? std::min(std::max(sum, double{kLow}), double{kHigh}) : sum;
}

// Of all tiles of an axis, phase by phase.
std::vector<ptrdiff_t> TileBegins(int tile,
                                  ptrdiff_t dilation,
                                  ptrdiff_t size) {
  std::vector<ptrdiff_t> begins;
  for (ptrdiff_t phase = 0; phase < dilation; ++phase) {
    for (ptrdiff_t i = phase; i < size; i += tile * dilation) {
      begins.push_back(i);
    }
  }
  return begins;
}

}  // namespace

Expected Reference(const Case &c, const Data &d) {
  const conv::Shape &s = c.shape;
  const Matrices x = MakeMatrices(c.tile);
  const size_t points = Size(x.t * x.t);
  const double steps = 30.0 + 2.0 * static_cast<double>(s.in_c);
  Expected e;
  e.value.resize(Size(s.batch * s.out_h * s.out_w * s.out_c));
  e.bound.resize(e.value.size());
  std::vector<std::vector<double>> filters;
  for (ptrdiff_t i = 0; i < s.out_c * s.in_c; ++i) {
    std::vector<double> g;
    for (ptrdiff_t tap = 0; tap < 9; ++tap) {
      g.push_back(d.filter[Size((i / s.in_c * 9 + tap) * s.in_c + i % s.in_c)]);
    }
    filters.push_back(Amplify(x.filter, g, 3));
  }
  for (ptrdiff_t n = 0; n < s.batch; ++n) {
    for (ptrdiff_t h : TileBegins(c.tile, s.dilation_h, s.out_h)) {
      for (ptrdiff_t w : TileBegins(c.tile, s.dilation_w, s.out_w)) {
        std::vector<std::vector<double>> inputs;
        for (ptrdiff_t ch = 0; ch < s.in_c; ++ch) {
          std::vector<double> image;
          for (ptrdiff_t i = 0; i < x.t * x.t; ++i) {
            image.push_back(
                InputAt(c, d, n, h - s.pad_top + i / x.t * s.dilation_h,
                        w - s.pad_left + i % x.t * s.dilation_w, ch));
          }
          inputs.push_back(Amplify(x.input, image, Size(x.t)));
        }
        for (ptrdiff_t o = 0; o < s.out_c; ++o) {
          std::vector<double> product(points, 0.0);
          for (ptrdiff_t ch = 0; ch < s.in_c; ++ch) {
            for (size_t i = 0; i < points; ++i) {
              product[i] +=
                  inputs[Size(ch)][i] * filters[Size(o * s.in_c + ch)][i];
            }
          }
          const std::vector<double> y = Amplify(x.output, product, Size(x.t));
          for (ptrdiff_t i = 0; i < c.tile * c.tile; ++i) {
            const ptrdiff_t oh = h + i / c.tile * s.dilation_h;
            const ptrdiff_t ow = w + i % c.tile * s.dilation_w;
            if (oh >= s.out_h || ow >= s.out_w) continue;
            const size_t at =
                Size(((n * s.out_h + oh) * s.out_w + ow) * s.out_c + o);
            e.value[at] = Direct(c, d, n, oh, ow, o);
            const bool fp16 = c.image == gemm::Element::kF16;
            e.bound[at] =
                steps * std::ldexp(y[Size(i)] + 2.0, fp16 ? -11 : -24);
            if (c.image == gemm::Element::kBf16) {
              e.bound[at] += std::ldexp(std::fabs(e.value[at]), -8);
            }
          }
        }
      }
    }
  }
  return e;
}

}  // namespace mace::winograd
