// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Functions of bytes, and softmax, which reads its exponentials from a table.

#include "mace/kernels/hexagon/executor/context.h"
#include "mace/kernels/hexagon/lookup.h"
#include "mace/kernels/hexagon/softmax.h"

namespace mace::hexagon {
namespace {

// The bytes of a row.
int64_t RowBytes(const TensorPlace &t) {
  return int64_t{t.width} * t.pixel_bytes;
}

// Calls row(x, y) for all rows.
template <typename Row>
void ForRows(const Context &context,
             const TensorPlace &in,
             const TensorPlace &out,
             const Row &function) {
  context.ForEach(
      int64_t{in.batch} * in.height, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const int64_t n = row / in.height;
          const int64_t y = row % in.height;
          function(context.Pixel(in, n, y, 0), context.Pixel(out, n, y, 0));
        }
      });
}

}  // namespace

bool MapBytes(const Context &context, const MapBytesParameters &p) {
  const TensorPlace *in = context.Bytes(p.input);
  const TensorPlace *out = context.Bytes(p.output);
  if (in == nullptr || out == nullptr || !SameShape(*in, *out) ||
      in->pixel_bytes != out->pixel_bytes || RowBytes(*in) > INT32_MAX) {
    return false;
  }
  const bool each = p.each_channel != 0;
  const auto *table = context.Constants<int8_t>(
      p.table, int64_t{kTableEntries} * (each ? in->channels : 1));
  if (table == nullptr) return false;
  const int64_t pixels = int64_t{in->batch} * in->height * in->width;
  if (!each && IsOneRow(*in) && IsOneRow(*out) &&
      pixels * in->pixel_bytes < INT32_MAX) {
    context.ForEach(pixels, [&](int64_t begin, int64_t end) {
      LookupRow(table, context.Pixel(*in, 0, 0, begin),
                static_cast<int>(end - begin) * in->pixel_bytes,
                context.Pixel(*out, 0, 0, begin));
    });
    return true;
  }
  ForRows(context, *in, *out, [&](const int8_t *x, int8_t *y) {
    if (!each) {
      LookupRow(table, x, static_cast<int>(RowBytes(*in)), y);
      return;
    }
    for (int i = 0; i < in->width; ++i) {
      LookupChannels(table, x + i * in->pixel_bytes, in->channels,
                     y + i * in->pixel_bytes);
    }
  });
  return true;
}

bool ApplySoftmax(const Context &context, const ApplySoftmaxParameters &p) {
  const TensorPlace *in = context.Bytes(p.input);
  const TensorPlace *out = context.Bytes(p.output);
  if (in == nullptr || out == nullptr || !SameShape(*in, *out) ||
      in->channels > kMostSoftmax || !IsMultiplier(p.scale)) {
    return false;
  }
  Softmax softmax;
  softmax.exponentials =
      context.Constants<int32_t>(p.exponentials, kTableEntries);
  softmax.scale = p.scale;
  softmax.range = {static_cast<int8_t>(out->zero), INT8_MIN, INT8_MAX};
  // The sum is at least 2^30.
  if (softmax.exponentials == nullptr || softmax.exponentials[0] != INT32_C(1)
                                                                        << 30) {
    return false;
  }
  ForRows(context, *in, *out, [&](const int8_t *x, int8_t *y) {
    SoftmaxRows(softmax, x, in->pixel_bytes, in->channels, in->width, y,
                out->pixel_bytes);
  });
  return true;
}

}  // namespace mace::hexagon
