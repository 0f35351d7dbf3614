// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums, products, and larger or smaller ones of two tensors.

#include "mace/kernels/hexagon/eltwise.h"

#include "mace/kernels/hexagon/executor/context.h"
#include "mace/kernels/hexagon/moves.h"

namespace mace::hexagon {
namespace {

constexpr int32_t kMostShift = 30;

bool Fits(int32_t size, int32_t output) { return size == output || size == 1; }

bool Broadcasts(const TensorPlace &from, const TensorPlace &out) {
  return Fits(from.batch, out.batch) && Fits(from.height, out.height) &&
         Fits(from.width, out.width) && Fits(from.channels, out.channels) &&
         (from.channels == out.channels
              ? from.pixel_bytes == out.pixel_bytes
              : out.pixel_bytes <= kMostRepeatedBytes);
}

bool ReadParameters(const CombineParameters &p,
                    const TensorPlace &a,
                    const TensorPlace &b,
                    const TensorPlace &out,
                    Eltwise *e) {
  if (p.mode > static_cast<uint32_t>(EltwiseMode::kProduct)) return false;
  e->mode = static_cast<EltwiseMode>(p.mode);
  e->a_factor = p.a_factor;
  e->b_factor = p.b_factor;
  e->shift = p.shift;
  e->multiplier = p.multiplier;
  e->a_zero = static_cast<int8_t>(a.zero);
  e->b_zero = static_cast<int8_t>(b.zero);
  e->range = {static_cast<int8_t>(out.zero), static_cast<int8_t>(p.low),
              static_cast<int8_t>(p.high)};
  return p.shift >= 0 && p.shift <= kMostShift && p.low >= INT8_MIN &&
         p.high <= INT8_MAX && p.low <= p.high &&
         (e->mode != EltwiseMode::kProduct || IsMultiplier(p.multiplier));
}

// Rows of an operand, as many bytes as the output's.
class Operand {
 public:
  Operand(const Context &context,
          const TensorPlace &from,
          const TensorPlace &to)
      : context_(context),
        from_(from),
        pixel_bytes_(to.pixel_bytes),
        is_row_(from.width == to.width && from.channels == to.channels),
        has_channels_(from.channels == to.channels) {}

  // Whether rows are used where they are.
  bool is_row() const { return is_row_; }

  // `pixels` pixels of a row, from x on: at most those that fit the memory,
  // unless is_row().
  const int8_t *Pixels(int64_t n, int64_t y, int64_t x, int pixels) {
    const int8_t *from =
        context_.Pixel(from_, from_.batch > 1 ? n : 0, from_.height > 1 ? y : 0,
                       from_.width > 1 ? x : 0);
    // One pixel is none that is repeated.
    if (is_row_ || (has_channels_ && pixels == 1)) return from;
    if (from == held_ && pixels <= held_pixels_) return memory_;
    const int step = from_.width > 1 ? from_.pixel_bytes : 0;
    if (has_channels_) {
      CopyPixels(from, step, memory_, pixel_bytes_, pixel_bytes_, pixels);
    } else {
      SpreadPixels(from, step, memory_, pixel_bytes_, pixel_bytes_, pixels);
    }
    held_ = from;
    held_pixels_ = pixels;
    return memory_;
  }

 private:
  const Context &context_;
  const TensorPlace &from_;
  const int pixel_bytes_;
  const bool is_row_;
  const bool has_channels_;
  // What is in the memory: pixels that begin there.
  const int8_t *held_ = nullptr;
  int held_pixels_ = 0;
  alignas(kVectorBytes) int8_t memory_[kMostRepeatedBytes + kSlackBytes];
};

}  // namespace

bool Combine(const Context &context, const CombineParameters &p) {
  const TensorPlace *a = context.Bytes(p.a);
  const TensorPlace *b = context.Bytes(p.b);
  const TensorPlace *out = context.Bytes(p.output);
  Eltwise e;
  if (a == nullptr || b == nullptr || out == nullptr || !Broadcasts(*a, *out) ||
      !Broadcasts(*b, *out) || !ReadParameters(p, *a, *b, *out, &e)) {
    return false;
  }
  const int64_t pixels = int64_t{out->batch} * out->height * out->width;
  if (SameShape(*a, *out) && SameShape(*b, *out) && IsOneRow(*a) &&
      IsOneRow(*b) && IsOneRow(*out) && pixels * out->pixel_bytes < INT32_MAX) {
    context.ForEach(pixels, [&](int64_t begin, int64_t end) {
      EltwiseRow(e, context.Pixel(*a, 0, 0, begin),
                 context.Pixel(*b, 0, 0, begin),
                 static_cast<int>(end - begin) * out->pixel_bytes,
                 context.Pixel(*out, 0, 0, begin));
    });
    return true;
  }
  context.ForEach(int64_t{out->batch} * out->height, [&](int64_t begin,
                                                         int64_t end) {
    Operand of_a(context, *a, *out);
    Operand of_b(context, *b, *out);
    const int fitting = kMostRepeatedBytes / out->pixel_bytes;
    const int most = of_a.is_row() && of_b.is_row() ? out->width
                     : fitting > 1                  ? fitting
                                                    : 1;
    for (int64_t row = begin; row < end; ++row) {
      const int64_t n = row / out->height;
      const int64_t y = row % out->height;
      for (int x = 0; x < out->width; x += most) {
        const int count = out->width - x < most ? out->width - x : most;
        EltwiseRow(e, of_a.Pixels(n, y, x, count), of_b.Pixels(n, y, x, count),
                   count * out->pixel_bytes, context.Pixel(*out, n, y, x));
      }
    }
  });
  return true;
}

}  // namespace mace::hexagon
