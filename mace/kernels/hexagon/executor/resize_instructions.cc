// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Images of other sizes.

#include "mace/kernels/hexagon/executor/context.h"
#include "mace/kernels/hexagon/moves.h"
#include "mace/kernels/hexagon/resize.h"

namespace mace::hexagon {
namespace {

bool AreImages(const TensorPlace *in, const TensorPlace *out) {
  return in != nullptr && out != nullptr && in != out &&
         in->batch == out->batch && in->channels == out->channels &&
         in->pixel_bytes == out->pixel_bytes;
}

bool AreInside(const int32_t *positions, int count, int64_t last) {
  for (int i = 0; i < count; ++i) {
    if (positions[i] < 0 || positions[i] > last) return false;
  }
  return true;
}

bool AreInside(const ResizeTap *taps, int count, int64_t last) {
  constexpr int32_t kOne = 1 << kResizeBits;
  for (int i = 0; i < count; ++i) {
    const ResizeTap &t = taps[i];
    if (t.first < 0 || t.first > last || t.second < 0 || t.second > last ||
        t.first_weight < 0 || t.first_weight > kOne ||
        t.second_weight != kOne - t.first_weight) {
      return false;
    }
  }
  return true;
}

// The first byte of the last pixel of a row.
int64_t LastPixel(const TensorPlace &t) {
  return int64_t{t.width - 1} * t.pixel_bytes;
}

// Calls row(n, y, begin of the output's row) for all rows.
template <typename Row>
void ForRows(const Context &context, const TensorPlace &out, const Row &row) {
  context.ForEach(int64_t{out.batch} * out.height,
                  [&](int64_t begin, int64_t end) {
                    for (int64_t i = begin; i < end; ++i) {
                      const int64_t n = i / out.height;
                      const int64_t y = i % out.height;
                      row(n, y, context.Pixel(out, n, y, 0));
                    }
                  });
}

}  // namespace

bool ResizeNearest(const Context &context, const ResizeNearestParameters &p) {
  const TensorPlace *in = context.Bytes(p.input);
  const TensorPlace *out = context.Bytes(p.output);
  if (!AreImages(in, out)) return false;
  const auto *rows = context.Constants<int32_t>(p.rows, out->height);
  const auto *columns = context.Constants<int32_t>(p.columns, out->width);
  if (rows == nullptr || columns == nullptr ||
      !AreInside(rows, out->height, in->height - 1) ||
      !AreInside(columns, out->width, LastPixel(*in))) {
    return false;
  }
  ForRows(context, *out, [&](int64_t n, int64_t y, int8_t *to) {
    GatherPixels(context.Pixel(*in, n, rows[y], 0), columns, to,
                 out->pixel_bytes, out->pixel_bytes, out->width);
  });
  return true;
}

bool ResizeLinear(const Context &context, const ResizeLinearParameters &p) {
  const TensorPlace *in = context.Bytes(p.input);
  const TensorPlace *out = context.Bytes(p.output);
  if (!AreImages(in, out) || !IsMultiplier(p.multiplier)) return false;
  const auto *rows = context.Constants<ResizeTap>(p.rows, out->height);
  const auto *columns = context.Constants<ResizeTap>(p.columns, out->width);
  if (rows == nullptr || columns == nullptr ||
      !AreInside(rows, out->height, in->height - 1) ||
      !AreInside(columns, out->width, LastPixel(*in))) {
    return false;
  }
  const Resize resize = {p.multiplier,
                         static_cast<int8_t>(in->zero),
                         {static_cast<int8_t>(out->zero), INT8_MIN, INT8_MAX},
                         out->pixel_bytes,
                         out->pixel_bytes};
  ForRows(context, *out, [&](int64_t n, int64_t y, int8_t *to) {
    const ResizeTap &row = rows[y];
    const ResizeRows from = {context.Pixel(*in, n, row.first, 0),
                             context.Pixel(*in, n, row.second, 0),
                             row.first_weight, row.second_weight};
    ResizeRow(resize, from, columns, out->width, to);
  });
  return true;
}

}  // namespace mace::hexagon
