// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Pooling, and sums along dimensions.

#include "mace/kernels/hexagon/executor/context.h"
#include "mace/kernels/hexagon/moves.h"
#include "mace/kernels/hexagon/pooling.h"

namespace mace::hexagon {
namespace {

constexpr ByteRange WholeRange(int32_t zero) {
  return {static_cast<int8_t>(zero), INT8_MIN, INT8_MAX};
}

bool AreSizes(const int32_t *sizes, int count, int32_t least) {
  // So that products of two of them fit into 32 bits.
  constexpr int32_t kMost = 1 << 15;
  for (int i = 0; i < count; ++i) {
    if (sizes[i] < least || sizes[i] > kMost) return false;
  }
  return true;
}

// The taps of a window along one axis.
struct Taps {
  int64_t first;  // position of the first one inside
  int inside;
  int padded;  // inside the image or its declared padding
};

struct Axis {
  int64_t size;
  int64_t kernel;
  int64_t stride;
  int64_t dilation;
  int64_t before;
  int64_t after;

  int64_t Begin(int64_t window) const { return window * stride - before; }
  bool IsInside(int64_t window) const {
    const int64_t begin = Begin(window);
    return begin >= 0 && begin + (kernel - 1) * dilation < size;
  }
  Taps Of(int64_t window) const {
    const int64_t begin = Begin(window);
    Taps taps = {begin, 0, 0};
    for (int64_t k = 0; k < kernel; ++k) {
      const int64_t at = begin + k * dilation;
      if (at < size + after) ++taps.padded;
      if (at < 0 || at >= size) continue;
      if (taps.inside++ == 0) taps.first = at;
    }
    return taps;
  }
};

// Rows of pooling.
class Pooling {
 public:
  Pooling(const Context &context,
          const PoolWindowsParameters &p,
          const TensorPlace &in,
          const TensorPlace &out)
      : context_(context),
        p_(p),
        in_(in),
        out_(out),
        down_{in.height,           p.window.height,  p.window.stride_y,
              p.window.dilation_y, p.window.pad_top, p.pad_bottom},
        across_{in.width,          p.window.width,
                p.window.stride_x, p.window.dilation_x,
                p.window.pad_left, p.pad_right} {
    pool_.row_bytes = p.window.dilation_y * in.row_bytes;
    pool_.column_bytes = p.window.dilation_x * in.pixel_bytes;
    pool_.step_bytes = p.window.stride_x * in.pixel_bytes;
    pool_.pixel_bytes = out.pixel_bytes;
    pool_.bytes = in.pixel_bytes;
  }

  void Row(int64_t n, int64_t y) {
    const Taps rows = down_.Of(y);
    for (int64_t x = 0; x < out_.width;) {
      const Taps columns = across_.Of(x);
      int count = 1;
      if (across_.IsInside(x)) {
        while (x + count < out_.width && across_.IsInside(x + count)) ++count;
      }
      Pixels(n, rows, columns, count, context_.Pixel(out_, n, y, x));
      x += count;
    }
  }

 private:
  void Pixels(
      int64_t n, const Taps &rows, const Taps &columns, int count, int8_t *y) {
    if (rows.inside == 0 || columns.inside == 0) {
      FillPixels(static_cast<int8_t>(out_.zero), y, out_.pixel_bytes,
                 out_.pixel_bytes, count);
      return;
    }
    pool_.rows = rows.inside;
    pool_.columns = columns.inside;
    const int8_t *x = context_.Pixel(in_, n, rows.first, columns.first);
    if (p_.mode == static_cast<uint32_t>(PoolMode::kLargest)) {
      LargestRow(pool_, x, count, y);
      return;
    }
    const int32_t divisor =
        p_.mode == static_cast<uint32_t>(PoolMode::kAveragePadded)
            ? rows.padded * columns.padded
            : rows.inside * columns.inside;
    if (divisor != divisor_) {
      multiplier_ = p_.ratio / static_cast<float>(divisor);
      divisor_ = divisor;
    }
    const Average average = {multiplier_, static_cast<int8_t>(in_.zero),
                             WholeRange(out_.zero)};
    AverageRow(pool_, average, x, count, y);
  }

  const Context &context_;
  const PoolWindowsParameters &p_;
  const TensorPlace &in_;
  const TensorPlace &out_;
  const Axis down_;
  const Axis across_;
  Pool pool_ = {};
  int32_t divisor_ = 0;  // of multiplier_
  float multiplier_ = 0;
};

// The position of an output's element, in their order.
class Cursor {
 public:
  Cursor(const TensorPlace &out, int64_t element) : out_(out) {
    c_ = static_cast<int>(element % out.channels);
    element /= out.channels;
    x_ = element % out.width;
    element /= out.width;
    y_ = element % out.height;
    n_ = element / out.height;
  }
  int8_t *At(const Context &context) const {
    return context.Pixel(out_, n_, y_, x_) + c_;
  }
  // `channels`: all of a pixel, or 1.
  void Advance(int channels) {
    c_ += channels;
    if (c_ < out_.channels) return;
    c_ = 0;
    if (++x_ < out_.width) return;
    x_ = 0;
    if (++y_ < out_.height) return;
    y_ = 0;
    ++n_;
  }

 private:
  const TensorPlace &out_;
  int64_t n_;
  int64_t y_;
  int64_t x_;
  int c_;
};

class Reduction {
 public:
  Reduction(const Context &context,
            const ReduceAxesParameters &p,
            const TensorPlace &in,
            const TensorPlace &out)
      : context_(context),
        p_(p),
        in_(in),
        out_(out),
        rows_(p.fold_height != 0 ? 1 : in.height),
        columns_(p.fold_width != 0 ? 1 : in.width) {
    pool_.rows = p.fold_height != 0 ? in.height : 1;
    pool_.columns = p.fold_width != 0 ? in.width : 1;
    pool_.row_bytes = in.row_bytes;
    pool_.column_bytes = in.pixel_bytes;
    pool_.step_bytes = in.pixel_bytes;
    pool_.pixel_bytes = in.pixel_bytes;
    pool_.bytes = in.channels;
  }

  int64_t elements() const {
    return int64_t{pool_.rows} * pool_.columns *
           (p_.fold_channels != 0 ? in_.channels : 1);
  }

  // Of windows, or of channels of all windows if that is more even.
  void Run() const {
    const int64_t windows = int64_t{in_.batch} * rows_ * columns_;
    const int64_t vectors =
        (int64_t{in_.channels} + kVectorBytes - 1) / kVectorBytes;
    const int threads = context_.threads();
    if (threads > 1 && p_.fold_channels == 0 &&
        LongestShare(vectors, threads) < LongestShare(windows, threads)) {
      context_.ForEach(
          in_.channels,
          [&](int64_t begin, int64_t end) {
            Windows(0, windows, static_cast<int>(begin),
                    static_cast<int>(end - begin));
          },
          kVectorBytes);
      return;
    }
    context_.ForEach(windows, [&](int64_t begin, int64_t end) {
      Windows(begin, end, 0, in_.channels);
    });
  }

 private:
  // Windows from `begin` to `end`: `channels` of each, unless they are reduced.
  void Windows(int64_t begin, int64_t end, int first, int channels) const {
    const int of_window = p_.fold_channels != 0 ? 1 : out_.channels;
    Cursor cursor(out_, begin * of_window);
    const int64_t row = begin / columns_;
    int64_t n = row / rows_;
    int64_t y = row % rows_;
    int64_t x = begin % columns_;
    for (int64_t i = begin; i < end; ++i) {
      const int8_t *from =
          context_.Pixel(in_, n, y * pool_.rows, x * pool_.columns);
      int8_t *to = cursor.At(context_);
      if (p_.fold_channels != 0) {
        *to = Whole(from);
      } else {
        Channels(from + first, channels, to + first);
      }
      cursor.Advance(of_window);
      if (++x < columns_) continue;
      x = 0;
      if (++y < rows_) continue;
      y = 0;
      ++n;
    }
  }

  void Channels(const int8_t *x, int channels, int8_t *y) const {
    Pool pool = pool_;
    pool.bytes = channels;
    if (p_.largest != 0) {
      LargestRow(pool, x, 1, y);
      return;
    }
    const Average average = {p_.multiplier, static_cast<int8_t>(in_.zero),
                             WholeRange(out_.zero)};
    AverageRow(pool, average, x, 1, y);
  }

  int8_t Whole(const int8_t *x) const {
    int32_t sum = 0;
    int8_t largest = INT8_MIN;
    for (int r = 0; r < pool_.rows; ++r) {
      for (int c = 0; c < pool_.columns; ++c) {
        const int8_t *pixel =
            x + int64_t{r} * pool_.row_bytes + int64_t{c} * pool_.column_bytes;
        if (p_.largest != 0) {
          const int8_t one = LargestOfRun(pixel, in_.channels);
          largest = one > largest ? one : largest;
        } else {
          sum += SumOfRun(pixel, in_.channels);
        }
      }
    }
    if (p_.largest != 0) return largest;
    sum -= static_cast<int32_t>(elements()) * in_.zero;
    return ScaledByte(sum, p_.multiplier, WholeRange(out_.zero));
  }

  const Context &context_;
  const ReduceAxesParameters &p_;
  const TensorPlace &in_;
  const TensorPlace &out_;
  // Of windows, along the axes that are not reduced.
  const int64_t rows_;
  const int64_t columns_;
  Pool pool_ = {};
};

int64_t Elements(const TensorPlace &t) {
  return int64_t{t.batch} * t.height * t.width * t.channels;
}

}  // namespace

bool PoolWindows(const Context &context, const PoolWindowsParameters &p) {
  const TensorPlace *in = context.Bytes(p.input);
  const TensorPlace *out = context.Bytes(p.output);
  const WindowParameters &w = p.window;
  const int32_t positive[] = {w.height,   w.width,      w.stride_y,
                              w.stride_x, w.dilation_y, w.dilation_x};
  const int32_t pads[] = {w.pad_top, w.pad_left, p.pad_bottom, p.pad_right};
  if (in == nullptr || out == nullptr || in == out || in->batch != out->batch ||
      in->channels != out->channels || in->pixel_bytes != out->pixel_bytes ||
      !AreSizes(positive, 6, 1) || !AreSizes(pads, 4, 0) ||
      p.mode > static_cast<uint32_t>(PoolMode::kAveragePadded)) {
    return false;
  }
  const bool averages = p.mode != static_cast<uint32_t>(PoolMode::kLargest);
  const int64_t elements = int64_t{w.height} * w.width;
  if (elements > kMostPooled ||
      (averages && (!IsMultiplier(p.ratio) ||
                    !IsMultiplier(p.ratio / static_cast<float>(elements)))) ||
      int64_t{w.dilation_y} * in->row_bytes > INT32_MAX ||
      int64_t{w.dilation_x} * in->pixel_bytes > INT32_MAX ||
      int64_t{w.stride_x} * in->pixel_bytes > INT32_MAX ||
      int64_t{out->width} * out->pixel_bytes > INT32_MAX) {
    return false;
  }
  context.ForEach(int64_t{out->batch} * out->height,
                  [&](int64_t begin, int64_t end) {
                    Pooling pooling(context, p, *in, *out);
                    for (int64_t row = begin; row < end; ++row) {
                      pooling.Row(row / out->height, row % out->height);
                    }
                  });
  return true;
}

bool ReduceAxes(const Context &context, const ReduceAxesParameters &p) {
  const TensorPlace *in = context.Bytes(p.input);
  const TensorPlace *out = context.Bytes(p.output);
  if (in == nullptr || out == nullptr || in == out ||
      (p.largest == 0 && !IsMultiplier(p.multiplier))) {
    return false;
  }
  const Reduction reduction(context, p, *in, *out);
  const int64_t elements = reduction.elements();
  if (elements > kMostPooled || Elements(*out) * elements != Elements(*in) ||
      (p.fold_channels == 0 && out->channels != in->channels)) {
    return false;
  }
  reduction.Run();
  return true;
}

}  // namespace mace::hexagon
