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
constexpr uint8_t kSignByte = 0x80;

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

// Pixels of few channels, one by one.
void CopyPixels(const int8_t *from,
                int from_pixel,
                int8_t *to,
                int to_pixel,
                int channels,
                int64_t pixels,
                uint8_t flip) {
  for (int64_t i = 0; i < pixels; ++i) {
    for (int c = 0; c < channels; ++c) {
      to[c] = static_cast<int8_t>(static_cast<uint8_t>(from[c]) ^ flip);
    }
    from += from_pixel;
    to += to_pixel;
  }
}

// A row of pixels. Behind what is read are kSlackBytes.
void CopyRow(const int8_t *from,
             int from_pixel,
             int8_t *to,
             int to_pixel,
             int channels,
             int64_t pixels,
             bool flip) {
  if (from_pixel == channels && to_pixel == channels) {
    CopyBytes(from, to, pixels * channels, flip ? kSign : 0);
    return;
  }
  constexpr int kFew = 16;
  if (channels < kFew) {
    CopyPixels(from, from_pixel, to, to_pixel, channels, pixels,
               flip ? kSignByte : 0);
    return;
  }
  for (int64_t i = 0; i < pixels; ++i) {
    CopyBytes(from + i * from_pixel, to + i * to_pixel, channels,
              flip ? kSign : 0);
  }
}

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
  ForRows(context, *t, [&](int8_t *to, int64_t row) {
    CopyRow(from + row * DenseRow(*t), channels, to, t->pixel_bytes, channels,
            t->width, p.flip != 0);
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
  ForRows(context, *t, [&](const int8_t *from, int64_t row) {
    CopyRow(from, t->pixel_bytes, to + row * DenseRow(*t), channels, channels,
            t->width, p.flip != 0);
  });
  return true;
}

bool FillPadding(const Context &context, const FillPaddingParameters &p) {
  const TensorPlace *t = context.Bytes(p.output);
  if (t == nullptr) return false;
  context.ForEach(t->batch, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      // From the end of a row to the beginning of the next one at once.
      int8_t *from = context.Pixel(*t, n, -t->pad_top, -t->pad_left);
      for (int64_t y = 0; y < t->height; ++y) {
        Fill(from, context.Pixel(*t, n, y, 0), t->zero);
        from = context.Pixel(*t, n, y, t->width);
      }
      const int64_t last = int64_t{t->height} + t->pad_bottom - 1;
      Fill(from, context.Pixel(*t, n, last, int64_t{t->width} + t->pad_right),
           t->zero);
    }
  });
  return true;
}

}  // namespace mace::hexagon
