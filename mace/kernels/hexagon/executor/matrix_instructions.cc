// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Products of two computed matrices.

#include "mace/kernels/hexagon/executor/context.h"
#include "mace/kernels/hexagon/matrices.h"

namespace mace::hexagon {
namespace {

bool Fits(int32_t size, int32_t output) { return size == output || size == 1; }

bool Broadcasts(const TensorPlace &from, const TensorPlace &out) {
  return Fits(from.batch, out.batch) && Fits(from.height, out.height);
}

// The first row of the matrix of an operand for one of the output.
int8_t *Matrix(const Context &context,
               const TensorPlace &t,
               int64_t n,
               int64_t y) {
  return context.Pixel(t, t.batch > 1 ? n : 0, t.height > 1 ? y : 0, 0);
}

bool IsMultipleOf(const void *address, uintptr_t bytes) {
  return reinterpret_cast<uintptr_t>(address) % bytes == 0;
}

}  // namespace

bool MultiplyMatrices(const Context &context,
                      const MultiplyMatricesParameters &p) {
  const TensorPlace *a = context.Bytes(p.a);
  const TensorPlace *b = context.Bytes(p.b);
  const TensorPlace *out = context.Bytes(p.output);
  const TensorPlace *packed = context.Bytes(p.packed);
  if (a == nullptr || b == nullptr || out == nullptr || packed == nullptr ||
      a == out || b == out || packed == a || packed == b || packed == out ||
      !Broadcasts(*a, *out) || !Broadcasts(*b, *out) ||
      !IsMultiplier(p.multiplier)) {
    return false;
  }
  const bool is_transposed = p.transpose_b != 0;
  const int depth = a->channels;
  if (a->width != out->width ||
      (is_transposed ? b->channels : b->width) != depth ||
      (is_transposed ? b->width : b->channels) != out->channels ||
      packed->channels < PackedMatrixBytes(depth, out->channels)) {
    return false;
  }
  int8_t *memory = context.Pixel(*packed, 0, 0, 0);
  if (!IsMultipleOf(memory, kVectorBytes)) return false;
  const MatrixProduct product = {
      memory,
      depth,
      out->channels,
      a->pixel_bytes,
      out->pixel_bytes,
      a->zero,
      b->zero,
      p.multiplier,
      {static_cast<int8_t>(out->zero), INT8_MIN, INT8_MAX}};
  MatrixColumns columns = {nullptr, b->pixel_bytes, is_transposed,
                           depth,   out->channels,  memory};
  const int8_t *held = nullptr;
  for (int64_t n = 0; n < out->batch; ++n) {
    for (int64_t y = 0; y < out->height; ++y) {
      const int8_t *q = Matrix(context, *b, n, y);
      if (q != held) {
        columns.q = q;
        context.ForEach(
            out->channels,
            [&columns](int64_t begin, int64_t end) {
              PackColumns(columns, static_cast<int>(begin),
                          static_cast<int>(end));
            },
            columns.unit());
        held = q;
      }
      const int8_t *rows = Matrix(context, *a, n, y);
      int8_t *to = context.Pixel(*out, n, y, 0);
      context.ForEach(out->width, [&](int64_t begin, int64_t end) {
        MultiplyRows(product, rows + begin * a->pixel_bytes,
                     static_cast<int>(end - begin),
                     to + begin * out->pixel_bytes);
      });
    }
  }
  return true;
}

}  // namespace mace::hexagon
