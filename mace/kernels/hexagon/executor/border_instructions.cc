// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensors that the host writes and reads, and pixels around images.

#include "mace/kernels/hexagon/executor/context.h"
#include "mace/kernels/hexagon/hvx.h"
#include "mace/kernels/hexagon/platform/memory.h"

namespace mace::hexagon {
namespace {

constexpr uint32_t kSign = 0x80808080u;

// Copies `count` bytes, of which `flip` changes some bits. Only they are
// written, but loads may go beyond.
void CopyBytes(const int8_t *from, int8_t *to, int64_t count, uint32_t flip) {
  const Vector mask = Words(static_cast<int32_t>(flip));
  for (; count >= kVectorBytes; count -= kVectorBytes) {
    StoreUnaligned(Q6_V_vxor_VV(LoadUnaligned(from), mask), to);
    from += kVectorBytes;
    to += kVectorBytes;
  }
  if (count > 0) {
    StoreFirst(Q6_V_vxor_VV(LoadUnaligned(from), mask), to,
               static_cast<int>(count));
  }
}

// Moves the channels of pixels in a vector apart, or together: `vdelta` and
// `vrdelta` move bytes by each power of 2, from the largest to the smallest, or
// the reverse. No two bytes meet if they keep their order.
class PixelMove {
 public:
  // Of a pixel's bytes in both places.
  PixelMove(int from_pixel, int to_pixel, int channels)
      : spreads_(to_pixel > from_pixel) {
    const int most = spreads_ ? to_pixel : from_pixel;
    pixels_ = kVectorBytes / most;
    for (int8_t &bits : control_) bits = 0;
    for (int p = 0; p < pixels_; ++p) {
      for (int c = 0; c < channels; ++c) {
        Route(p * from_pixel + c, p * to_pixel + c);
      }
    }
  }

  int pixels() const { return pixels_; }
  Vector Move(Vector bytes) const {
    const Vector control = Load(control_);
    return spreads_ ? Q6_V_vdelta_VV(bytes, control)
                    : Q6_V_vrdelta_VV(bytes, control);
  }

 private:
  void Route(int from, int to) {
    for (int step = 0; step < 7; ++step) {
      const int bit = spreads_ ? kVectorBytes / 2 >> step : 1 << step;
      const int next = (from & ~bit) | (to & bit);
      if (next != from)
        control_[next] = static_cast<int8_t>(control_[next] | bit);
      from = next;
    }
  }

  bool spreads_;
  int pixels_;
  alignas(kVectorBytes) int8_t control_[kVectorBytes];
};

// Pixels of few channels, many of which are in a vector.
void MovePixels(const PixelMove &move,
                const int8_t *from,
                int from_pixel,
                int8_t *to,
                int to_pixel,
                int64_t pixels,
                uint32_t flip) {
  const Vector mask = Words(static_cast<int32_t>(flip));
  for (; pixels > 0; pixels -= move.pixels()) {
    const auto count =
        static_cast<int>(pixels < move.pixels() ? pixels : move.pixels());
    StoreFirst(Q6_V_vxor_VV(move.Move(LoadUnaligned(from)), mask), to,
               count * to_pixel);
    from += static_cast<int64_t>(count) * from_pixel;
    to += static_cast<int64_t>(count) * to_pixel;
  }
}

// Copies rows of pixels, behind which kSlackBytes may be read. Bytes of a pixel
// behind its channels get any value.
class RowCopy {
 public:
  RowCopy(int from_pixel, int to_pixel, int channels, bool flip)
      : from_pixel_(from_pixel),
        to_pixel_(to_pixel),
        channels_(channels),
        flip_(flip ? kSign : 0),
        dense_(from_pixel == channels && to_pixel == channels),
        few_(!dense_ && IsFew(from_pixel) && IsFew(to_pixel)),
        move_(few_ ? from_pixel : kVectorBytes,
              few_ ? to_pixel : kVectorBytes,
              few_ ? channels : 0) {}

  void Copy(const int8_t *from, int8_t *to, int64_t pixels) const {
    if (dense_) {
      CopyBytes(from, to, pixels * channels_, flip_);
    } else if (few_) {
      MovePixels(move_, from, from_pixel_, to, to_pixel_, pixels, flip_);
    } else {
      for (int64_t i = 0; i < pixels; ++i) {
        CopyBytes(from + i * from_pixel_, to + i * to_pixel_, channels_, flip_);
      }
    }
  }

 private:
  // Of at least 4 pixels in a vector.
  static bool IsFew(int pixel) { return pixel <= kVectorBytes / 4; }

  int from_pixel_;
  int to_pixel_;
  int channels_;
  uint32_t flip_;
  bool dense_;
  bool few_;
  PixelMove move_;
};

// The bytes of a tensor without padding.
int64_t DenseRow(const TensorPlace &t) {
  return int64_t{t.width} * t.channels * t.element_bytes;
}
bool DenseBytes(const TensorPlace &t, int64_t *bytes) {
  const int64_t rows = int64_t{t.batch} * t.height;
  // A tensor is within an area, of less than 2^32 bytes.
  *bytes = rows * DenseRow(t);
  return t.element_bytes == 1 || t.pixel_bytes == 4 * t.channels;
}

// The rows of two tensors of a shape, one of which is dense.
template <typename Function>
void ForRows(const Context &context,
             const TensorPlace &t,
             const Function &function) {
  context.ForEach(int64_t{t.batch} * t.height, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      function(context.Pixel(t, row / t.height, row % t.height, 0), row);
    }
  });
}

void Fill(int8_t *first, int8_t *end, int32_t byte) {
  if (end > first) memset(first, byte, static_cast<size_t>(end - first));
}

}  // namespace

bool Enter(const Context &context, const EnterParameters &p) {
  const TensorPlace *t = context.Tensor(p.output);
  int64_t bytes = 0;
  if (t == nullptr || !DenseBytes(*t, &bytes)) return false;
  const auto *from = reinterpret_cast<const int8_t *>(
      context.Border(p.border, bytes + kSlackBytes));
  if (from == nullptr) return false;
  const int channels = t->channels * static_cast<int>(t->element_bytes);
  const RowCopy copy(channels, t->pixel_bytes, channels, p.flip != 0);
  ForRows(context, *t, [&](int8_t *to, int64_t row) {
    copy.Copy(from + row * DenseRow(*t), to, t->width);
  });
  return true;
}

bool Leave(const Context &context, const LeaveParameters &p) {
  const TensorPlace *t = context.Tensor(p.input);
  int64_t bytes = 0;
  if (t == nullptr || !DenseBytes(*t, &bytes)) return false;
  auto *to = reinterpret_cast<int8_t *>(context.Border(p.border, bytes));
  if (to == nullptr) return false;
  const int channels = t->channels * static_cast<int>(t->element_bytes);
  const RowCopy copy(t->pixel_bytes, channels, channels, p.flip != 0);
  ForRows(context, *t, [&](const int8_t *from, int64_t row) {
    copy.Copy(from, to + row * DenseRow(*t), t->width);
  });
  return true;
}

bool FillPadding(const Context &context, const FillPaddingParameters &p) {
  const TensorPlace *t = context.Bytes(p.output);
  if (t == nullptr) return false;
  // From the end of a row to the beginning of the next one at once; in front of
  // the first row and behind the last one, whole rows.
  const int64_t gaps = int64_t{t->height} + 1;
  context.ForEach(t->batch * gaps, [&](int64_t begin, int64_t end) {
    int64_t n = begin / gaps;
    int64_t y = begin % gaps;
    for (int64_t i = begin; i < end; ++i) {
      int8_t *from = y == 0 ? context.Pixel(*t, n, -t->pad_top, -t->pad_left)
                            : context.Pixel(*t, n, y - 1, t->width);
      const int64_t last = int64_t{t->height} + t->pad_bottom - 1;
      int8_t *to =
          y < t->height
              ? context.Pixel(*t, n, y, 0)
              : context.Pixel(*t, n, last, int64_t{t->width} + t->pad_right);
      Fill(from, to, t->zero);
      if (++y == gaps) {
        y = 0;
        ++n;
      }
    }
  });
  return true;
}

}  // namespace mace::hexagon
