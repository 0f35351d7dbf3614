// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Images of another size by weighted sums of four pixels
// (docs/reference/quantization.md):
//
//   t = sum over r, c of v[r] * w[c] * (q[r, c] - x_zero)
//   y = clamp(round(float32(t) * multiplier) + zero)
//
// The two weights of an axis are integers, not negative, and their sum is 2^11.
// Where only one row or column counts, the other one has the weight 0.

#ifndef MACE_KERNELS_HEXAGON_RESIZE_H_
#define MACE_KERNELS_HEXAGON_RESIZE_H_

#include "mace/kernels/hexagon/program/instructions.h"
#include "mace/kernels/hexagon/scaled.h"

namespace mace::hexagon {

struct Resize {
  float multiplier;  // a normal number above 0
  int8_t x_zero;
  ByteRange range;
  int bytes;        // of a pixel
  int pixel_bytes;  // of the result, from a pixel to the next one
};

// Rows of the input and their weights.
struct ResizeRows {
  const int8_t *first;
  const int8_t *second;
  int32_t first_weight;
  int32_t second_weight;
};

// Computes `pixels` results, of which only the bytes are written. The positions
// of a column are bytes from the beginning of a row. Bytes behind the rows may
// be read as far as kSlackBytes.
void ResizeRow(const Resize &resize,
               const ResizeRows &rows,
               const ResizeTap *columns,
               int pixels,
               int8_t *y);

}  // namespace mace::hexagon

#endif  // MACE_KERNELS_HEXAGON_RESIZE_H_
