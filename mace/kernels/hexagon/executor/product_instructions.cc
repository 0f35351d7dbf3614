// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Convolutions; what a fully connected layer computes is one, too.

#include "mace/kernels/hexagon/convolution.h"
#include "mace/kernels/hexagon/depthwise.h"
#include "mace/kernels/hexagon/executor/context.h"

namespace mace::hexagon {
namespace {

constexpr int64_t kMostSide = 1 << 16;

// Whether the windows of all outputs lie in the input with its padding.
bool CoversOneAxis(int64_t kernel,
                   int64_t stride,
                   int64_t dilation,
                   int64_t before,
                   int64_t outputs,
                   int64_t padded_before,
                   int64_t padded_end) {
  if (kernel < 1 || stride < 1 || dilation < 1 || kernel > kMostSide ||
      stride > kMostSide || dilation > kMostSide || before < 0) {
    return false;
  }
  const int64_t last =
      (outputs - 1) * stride - before + (kernel - 1) * dilation;
  return before <= padded_before && last < padded_end;
}

bool IsInside(const WindowParameters &w,
              const TensorPlace &in,
              const TensorPlace &out) {
  // Bytes between the windows of rows fit into an integer.
  return in.batch == out.batch &&
         int64_t{w.stride_y} * in.row_bytes <= INT32_MAX &&
         CoversOneAxis(w.height, w.stride_y, w.dilation_y, w.pad_top,
                       out.height, in.pad_top,
                       int64_t{in.height} + in.pad_bottom) &&
         CoversOneAxis(w.width, w.stride_x, w.dilation_x, w.pad_left, out.width,
                       in.pad_left, int64_t{in.width} + in.pad_right);
}

bool IsOnePixel(const WindowParameters &w) {
  return w.height == 1 && w.width == 1 && w.stride_y == 1 && w.stride_x == 1 &&
         w.pad_top == 0 && w.pad_left == 0;
}

// Groups of 32 channels of a result.
int64_t GroupsOf(const TensorPlace &out) {
  return (int64_t{out.pixel_bytes} + kVectorWords - 1) / kVectorWords;
}

bool ReadResults(const Context &context,
                 const ResultParameters &p,
                 const TensorPlace &out,
                 Results *results) {
  constexpr int kMostLeft = 30;
  const int64_t channels = GroupsOf(out) * kVectorWords;
  results->bias = context.Constants<int32_t>(p.bias, channels);
  results->mantissa = context.Constants<int32_t>(p.mantissa, channels);
  results->shift = context.Constants<int32_t>(p.shift, channels);
  results->factor = p.factor == kNone
                        ? nullptr
                        : context.Constants<int32_t>(p.factor, channels);
  results->left = p.left;
  results->is_float = p.is_float != 0;
  results->zero = static_cast<int8_t>(out.zero);
  results->low = static_cast<int8_t>(p.low);
  results->high = static_cast<int8_t>(p.high);
  return results->bias != nullptr && results->mantissa != nullptr &&
         results->shift != nullptr &&
         (p.factor == kNone || results->factor != nullptr) && p.left >= 0 &&
         p.left <= kMostLeft && p.low >= INT8_MIN && p.high <= INT8_MAX &&
         p.low <= p.high;
}

bool IsMultipleOf8(const void *address) {
  return reinterpret_cast<uintptr_t>(address) % 8 == 0;
}

// What rows of results read and write, which lie one behind the other.
struct Part {
  Rows rows;
  const int8_t *image;
  int8_t *result;
};

constexpr int64_t kTile = 8;  // pixels

// Whether all pixels are one row.
bool IsOneLine(const WindowParameters &w,
               const TensorPlace &in,
               const TensorPlace &out) {
  return IsOnePixel(w) && SamePixels(in, out) && IsOneRow(in) && IsOneRow(out);
}

// Calls function(Part) for rows of the result, from `begin` to `end`.
template <typename Function>
void ForRows(const Context &context,
             const WindowParameters &w,
             const TensorPlace &in,
             const TensorPlace &out,
             int64_t begin,
             int64_t end,
             const Function &function) {
  while (begin < end) {
    const int64_t n = begin / out.height;
    const int64_t y = begin % out.height;
    const int64_t rest = out.height - y;  // of this image
    const int64_t rows = end - begin < rest ? end - begin : rest;
    function(Part{
        {static_cast<int>(rows), out.width, w.stride_y * in.row_bytes,
         out.row_bytes},
        context.Pixel(in, n, y * w.stride_y - w.pad_top, -int64_t{w.pad_left}),
        context.Pixel(out, n, y, 0)});
    begin += rows;
  }
}

// Likewise of all pixels, which are one row (IsOneLine), some of them.
template <typename Function>
void ForPixels(const Context &context,
               const TensorPlace &in,
               const TensorPlace &out,
               int64_t begin,
               int64_t end,
               const Function &function) {
  function(Part{{1, static_cast<int>(end - begin), 0, 0},
                context.Pixel(in, 0, 0, begin),
                context.Pixel(out, 0, 0, begin)});
}

// All rows at once, by the calling thread.
template <typename Function>
void ForAllRows(const Context &context,
                const WindowParameters &w,
                const TensorPlace &in,
                const TensorPlace &out,
                const Function &function) {
  const int64_t rows = int64_t{out.batch} * out.height;
  if (IsOneLine(w, in, out)) {
    ForPixels(context, in, out, 0, rows * out.width, function);
  } else {
    ForRows(context, w, in, out, 0, rows, function);
  }
}

// Calls function(Part) for all rows of the result, which are one if the filter
// has one tap and no row ends with padding.
template <typename Function>
void ForParts(const Context &context,
              const WindowParameters &w,
              const TensorPlace &in,
              const TensorPlace &out,
              const Function &function) {
  if (IsOneLine(w, in, out)) {
    const int64_t pixels = int64_t{in.batch} * in.height * in.width;
    context.ForEach(
        pixels,
        [&](int64_t begin, int64_t end) {
          ForPixels(context, in, out, begin, end, function);
        },
        kTile);
    return;
  }
  context.ForEach(int64_t{out.batch} * out.height,
                  [&](int64_t begin, int64_t end) {
                    ForRows(context, w, in, out, begin, end, function);
                  });
}

// Whether threads have less to do if each has some of the channels, and not
// some of the rows.
bool DividesChannels(const Context &context,
                     const WindowParameters &w,
                     const TensorPlace &in,
                     const TensorPlace &out) {
  const int threads = context.threads();
  if (threads == 1) return false;
  const int64_t rows = int64_t{out.batch} * out.height;
  const bool is_line = IsOneLine(w, in, out);
  const bool is_pixel = is_line && rows * out.width == 1;
  if (out.pixel_bytes % kBlockChannels != 0 && !is_pixel) return false;
  const int64_t units = is_line ? (rows * out.width + kTile - 1) / kTile : rows;
  const int64_t blocks = (GroupsOf(out) + kBlockGroups - 1) / kBlockGroups;
  return LongestShare(blocks, threads) < LongestShare(units, threads);
}

}  // namespace

bool Convolve(const Context &context, const ConvolveParameters &p) {
  const TensorPlace *in = context.Bytes(p.input);
  const TensorPlace *out = context.Bytes(p.output);
  const WindowParameters &w = p.window;
  if (in == nullptr || out == nullptr || in == out || !IsInside(w, *in, *out) ||
      w.dilation_x != 1) {
    return false;
  }
  Convolution c;
  const int64_t run_bytes = int64_t{w.width} * in->pixel_bytes;
  const int64_t run_stride = int64_t{w.dilation_y} * in->row_bytes;
  const int64_t step = int64_t{w.stride_x} * in->pixel_bytes;
  const int64_t groups = GroupsOf(*out);
  if (run_bytes > INT32_MAX || run_stride > INT32_MAX || step > INT32_MAX ||
      step % kStepBytes != 0 ||
      !IsMultipleOf8(context.Pixel(*in, 0, -w.pad_top, -w.pad_left))) {
    return false;
  }
  c.window = {w.height, static_cast<int>(run_stride),
              static_cast<int>((run_bytes + kStepBytes - 1) / kStepBytes)};
  c.step_bytes = static_cast<int>(step);
  c.groups = static_cast<int>(groups);
  c.pixel_bytes = out->pixel_bytes;
  c.weights = context.Constants(
      p.weights,
      WeightVectors(c.window, static_cast<int>(groups)) * kVectorBytes);
  if (c.weights == nullptr ||
      !ReadResults(context, p.results, *out, &c.results)) {
    return false;
  }
  if (p.fast != kNone) {
    c.weights = context.InFast(
        c.weights, p.fast, WeightVectors(c.window, static_cast<int>(groups)));
    if (c.weights == nullptr) return false;
  }
  if (DividesChannels(context, w, *in, *out)) {
    context.ForEach(
        groups,
        [&](int64_t begin, int64_t end) {
          Convolution part = c;
          part.first_group = static_cast<int>(begin);
          part.groups = static_cast<int>(end);
          ForAllRows(context, w, *in, *out, [&part](const Part &rows) {
            ConvolveRows(part, rows.rows, rows.image, rows.result);
          });
        },
        kBlockGroups);
    return true;
  }
  ForParts(context, w, *in, *out, [&c](const Part &part) {
    ConvolveRows(c, part.rows, part.image, part.result);
  });
  return true;
}

bool ConvolveDepthwise(const Context &context,
                       const ConvolveDepthwiseParameters &p) {
  const TensorPlace *in = context.Bytes(p.input);
  const TensorPlace *out = context.Bytes(p.output);
  const WindowParameters &w = p.window;
  if (in == nullptr || out == nullptr || in == out || !IsInside(w, *in, *out) ||
      in->pixel_bytes != out->pixel_bytes) {
    return false;
  }
  Depthwise d;
  const int64_t row = int64_t{w.dilation_y} * in->row_bytes;
  const int64_t column = int64_t{w.dilation_x} * in->pixel_bytes;
  const int64_t step = int64_t{w.stride_x} * in->pixel_bytes;
  const int64_t groups = GroupsOf(*out);
  if (row > INT32_MAX || column > INT32_MAX || step > INT32_MAX) return false;
  d.height = w.height;
  d.width = w.width;
  d.row_bytes = static_cast<int>(row);
  d.column_bytes = static_cast<int>(column);
  d.step_bytes = static_cast<int>(step);
  d.groups = static_cast<int>(groups);
  d.pixel_bytes = out->pixel_bytes;
  d.weights = context.Constants<int8_t>(
      p.weights, DepthwiseBytes(d.groups, w.height, w.width));
  if (d.weights == nullptr ||
      !ReadResults(context, p.results, *out, &d.results)) {
    return false;
  }
  ForParts(context, w, *in, *out, [&d](const Part &part) {
    for (int row = 0; row < part.rows.rows; ++row) {
      DepthwiseRow(d, part.image + int64_t{row} * part.rows.image_bytes,
                   part.rows.pixels,
                   part.result + int64_t{row} * part.rows.result_bytes);
    }
  });
  return true;
}

}  // namespace mace::hexagon
