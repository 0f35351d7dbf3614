// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "test/delegates/reference.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace mace::stand_in {
namespace {

Array Zeros(std::vector<int64_t> dims) {
  Array array;
  array.values.resize(static_cast<size_t>(Elements(dims)));
  array.dims = std::move(dims);
  return array;
}

int64_t OutputSize(int64_t size, const Window &w, int axis) {
  const int64_t extent = (w.kernel[axis] - 1) * w.dilations[axis] + 1;
  return (size + w.pads[2 * axis] + w.pads[2 * axis + 1] - extent) /
             w.strides[axis] +
         1;
}

// Calls visit(kernel index, image position) for the taps of output (oh, ow)
// that are inside the image.
void VisitTaps(const Array &x,
               const Window &w,
               int64_t oh,
               int64_t ow,
               const std::function<void(int64_t, int64_t, int64_t)> &visit) {
  for (int64_t kh = 0; kh < w.kernel[0]; ++kh) {
    for (int64_t kw = 0; kw < w.kernel[1]; ++kw) {
      const int64_t h = oh * w.strides[0] - w.pads[0] + kh * w.dilations[0];
      const int64_t v = ow * w.strides[1] - w.pads[2] + kw * w.dilations[1];
      if (h < 0 || v < 0 || h >= x.dims[1] || v >= x.dims[2]) continue;
      visit(kh * w.kernel[1] + kw, h, v);
    }
  }
}

size_t At(const Array &x, int64_t n, int64_t h, int64_t w, int64_t c) {
  return static_cast<size_t>(((n * x.dims[1] + h) * x.dims[2] + w) * x.dims[3] +
                             c);
}

// Calls visit(n, oh, ow, channel) for every element.
void VisitElements(
    const Array &y,
    const std::function<void(int64_t, int64_t, int64_t, int64_t)> &visit) {
  for (int64_t n = 0; n < y.dims[0]; ++n) {
    for (int64_t h = 0; h < y.dims[1]; ++h) {
      for (int64_t w = 0; w < y.dims[2]; ++w) {
        for (int64_t c = 0; c < y.dims[3]; ++c) visit(n, h, w, c);
      }
    }
  }
}

// Sizes before, at and after an axis.
struct Split {
  Split(const std::vector<int64_t> &dims, int64_t axis) {
    for (size_t i = 0; i < dims.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      (at < axis ? outer : at > axis ? inner : length) *= dims[i];
    }
  }
  int64_t outer = 1;
  int64_t length = 1;
  int64_t inner = 1;
};

}  // namespace

int64_t Elements(const std::vector<int64_t> &dims) {
  int64_t product = 1;
  for (int64_t dim : dims) product *= dim;
  return product;
}

Array Convolve(const Array &x,
               const Array &filter,
               const Array &bias,
               const Window &window,
               int64_t groups) {
  const int64_t outputs = filter.dims[0];
  const int64_t depth = filter.dims[3];
  Array y = Zeros({x.dims[0], OutputSize(x.dims[1], window, 0),
                   OutputSize(x.dims[2], window, 1), outputs});
  VisitElements(y, [&](int64_t n, int64_t oh, int64_t ow, int64_t o) {
    double sum = bias.values[static_cast<size_t>(o)];
    const int64_t first = o / (outputs / groups) * depth;
    VisitTaps(x, window, oh, ow, [&](int64_t tap, int64_t h, int64_t w) {
      const int64_t taps = window.kernel[0] * window.kernel[1];
      for (int64_t i = 0; i < depth; ++i) {
        sum += x.values[At(x, n, h, w, first + i)] *
               filter.values[static_cast<size_t>((o * taps + tap) * depth + i)];
      }
    });
    y.values[At(y, n, oh, ow, o)] = sum;
  });
  return y;
}

Array Pool(const Array &x, const Window &window, bool average) {
  Array y = Zeros({x.dims[0], OutputSize(x.dims[1], window, 0),
                   OutputSize(x.dims[2], window, 1), x.dims[3]});
  VisitElements(y, [&](int64_t n, int64_t oh, int64_t ow, int64_t c) {
    double sum = 0;
    double most = -std::numeric_limits<double>::infinity();
    int count = 0;
    VisitTaps(x, window, oh, ow, [&](int64_t, int64_t h, int64_t w) {
      const double value = x.values[At(x, n, h, w, c)];
      sum += value;
      most = std::max(most, value);
      ++count;
    });
    y.values[At(y, n, oh, ow, c)] = average ? sum / count : most;
  });
  return y;
}

Array Multiply(const Array &x, const Array &weights, const Array &bias) {
  const int64_t inner = weights.dims[1];
  Array y = Zeros({x.dims[0], weights.dims[0]});
  for (int64_t n = 0; n < x.dims[0]; ++n) {
    for (int64_t o = 0; o < weights.dims[0]; ++o) {
      double sum = bias.values[static_cast<size_t>(o)];
      for (int64_t k = 0; k < inner; ++k) {
        sum += x.values[static_cast<size_t>(n * inner + k)] *
               weights.values[static_cast<size_t>(o * inner + k)];
      }
      y.values[static_cast<size_t>(n * weights.dims[0] + o)] = sum;
    }
  }
  return y;
}

Array Broadcast(const Array &a,
                const Array &b,
                const std::function<double(double, double)> &function) {
  const size_t rank = std::max(a.dims.size(), b.dims.size());
  const auto padded = [rank](std::vector<int64_t> dims) {
    dims.insert(dims.begin(), rank - dims.size(), 1);
    return dims;
  };
  const std::vector<int64_t> a_dims = padded(a.dims);
  const std::vector<int64_t> b_dims = padded(b.dims);
  std::vector<int64_t> dims(rank);
  for (size_t i = 0; i < rank; ++i) dims[i] = std::max(a_dims[i], b_dims[i]);
  Array y = Zeros(dims);
  for (size_t i = 0; i < y.values.size(); ++i) {
    size_t rest = i;
    size_t at_a = 0;
    size_t at_b = 0;
    size_t step_a = 1;
    size_t step_b = 1;
    for (size_t axis = rank; axis-- > 0;) {
      const auto size = static_cast<size_t>(dims[axis]);
      const size_t index = rest % size;
      rest /= size;
      if (a_dims[axis] > 1) at_a += index * step_a;
      if (b_dims[axis] > 1) at_b += index * step_b;
      step_a *= static_cast<size_t>(a_dims[axis]);
      step_b *= static_cast<size_t>(b_dims[axis]);
    }
    y.values[i] = function(a.values[at_a], b.values[at_b]);
  }
  return y;
}

Array Map(const Array &x, const std::function<double(double)> &function) {
  Array y = x;
  for (double &value : y.values) value = function(value);
  return y;
}

Array Join(const std::vector<Array> &parts, int64_t axis) {
  std::vector<int64_t> dims = parts[0].dims;
  dims[static_cast<size_t>(axis)] = 0;
  for (const Array &part : parts) {
    dims[static_cast<size_t>(axis)] += part.dims[static_cast<size_t>(axis)];
  }
  Array y;
  y.dims = dims;
  const Split split(dims, axis);
  for (int64_t outer = 0; outer < split.outer; ++outer) {
    for (const Array &part : parts) {
      const Split own(part.dims, axis);
      const int64_t row = own.length * own.inner;
      y.values.insert(y.values.end(), part.values.begin() + outer * row,
                      part.values.begin() + (outer + 1) * row);
    }
  }
  return y;
}

Array Softmax(const Array &x, int64_t axis) {
  Array y = x;
  const Split split(x.dims, axis);
  for (int64_t i = 0; i < split.outer * split.inner; ++i) {
    const int64_t start =
        i / split.inner * split.length * split.inner + i % split.inner;
    const auto at = [&](int64_t k) {
      return static_cast<size_t>(start + k * split.inner);
    };
    double most = x.values[at(0)];
    for (int64_t k = 1; k < split.length; ++k) {
      most = std::max(most, x.values[at(k)]);
    }
    double sum = 0;
    for (int64_t k = 0; k < split.length; ++k) {
      sum += y.values[at(k)] = std::exp(x.values[at(k)] - most);
    }
    for (int64_t k = 0; k < split.length; ++k) y.values[at(k)] /= sum;
  }
  return y;
}

Array Mean(const Array &x, const std::vector<int64_t> &axes, bool keep_dims) {
  Array y = x;
  for (int64_t axis : axes) {
    const Split split(y.dims, axis);
    std::vector<int64_t> dims = y.dims;
    dims[static_cast<size_t>(axis)] = 1;
    Array next = Zeros(dims);
    for (size_t i = 0; i < next.values.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      for (int64_t k = 0; k < split.length; ++k) {
        next.values[i] += y.values[static_cast<size_t>(
            (at / split.inner * split.length + k) * split.inner +
            at % split.inner)];
      }
      next.values[i] /= static_cast<double>(split.length);
    }
    y = std::move(next);
  }
  if (keep_dims) return y;
  std::vector<int64_t> left;
  for (size_t i = 0; i < y.dims.size(); ++i) {
    if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) ==
        axes.end()) {
      left.push_back(y.dims[i]);
    }
  }
  y.dims = std::move(left);
  return y;
}

Array Resize(const Array &x,
             int64_t height,
             int64_t width,
             bool linear,
             bool align_corners,
             bool half_pixel) {
  Array y = Zeros({x.dims[0], height, width, x.dims[3]});
  const auto position = [&](int64_t output, int64_t size, int64_t outputs) {
    const auto from = static_cast<double>(size);
    const auto to = static_cast<double>(outputs);
    const auto i = static_cast<double>(output);
    if (align_corners && outputs > 1) return i * (from - 1) / (to - 1);
    if (half_pixel) return (i + 0.5) * from / to - (linear ? 0.5 : 0.0);
    return i * from / to;
  };
  VisitElements(y, [&](int64_t n, int64_t oh, int64_t ow, int64_t c) {
    const double h = position(oh, x.dims[1], height);
    const double w = position(ow, x.dims[2], width);
    const auto clamped = [](double at, int64_t size) {
      return std::clamp<int64_t>(static_cast<int64_t>(at), 0, size - 1);
    };
    const auto value = [&](double row, double column) {
      return x.values[At(x, n, clamped(row, x.dims[1]),
                         clamped(column, x.dims[2]), c)];
    };
    double result = 0;
    if (linear) {
      const double top = std::floor(h);
      const double left = std::floor(w);
      const double down = h - top;
      const double right = w - left;
      result = (1 - down) * ((1 - right) * value(top, left) +
                             right * value(top, left + 1)) +
               down * ((1 - right) * value(top + 1, left) +
                       right * value(top + 1, left + 1));
    } else {
      const double half = align_corners ? 0.5 : 0.0;
      result = value(std::floor(h + half), std::floor(w + half));
    }
    y.values[At(y, n, oh, ow, c)] = result;
  });
  return y;
}

Array DepthwiseAsGroups(const Array &filter, int64_t channels) {
  const int64_t taps = Elements(filter.dims) / channels;
  Array y;
  y.values.resize(filter.values.size());
  for (int64_t tap = 0; tap < taps; ++tap) {
    for (int64_t o = 0; o < channels; ++o) {
      y.values[static_cast<size_t>(o * taps + tap)] =
          filter.values[static_cast<size_t>(tap * channels + o)];
    }
  }
  return y;
}

}  // namespace mace::stand_in
