// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// The largest bytes of windows, and their sums
// (docs/reference/quantization.md):
//
//   t = sum of (q - x_zero)     y = clamp(round(float32(t) * multiplier) +
//   zero)
//
// of pooling, of means and sums along outer axes, and of whole runs for the
// innermost one. Windows have the elements inside the image alone: pixels at
// its borders are calls of their own.

#ifndef MACE_KERNELS_HEXAGON_POOLING_H_
#define MACE_KERNELS_HEXAGON_POOLING_H_

#include "mace/kernels/hexagon/scaled.h"

namespace mace::hexagon {

struct Pool {
  int rows;  // of a window, at least 1
  int columns;
  int row_bytes;     // from a row of the window to the next one
  int column_bytes;  // from a column to the next one
  int step_bytes;    // from the window of a pixel to the next one
  int pixel_bytes;   // of the result, from a pixel to the next one
  int bytes;         // of a pixel, which are computed
};

struct Average {
  float multiplier;  // of sums: a normal number above 0
  int8_t x_zero;
  ByteRange range;
};

// Windows have at most kMostPooled elements (program/instructions.h).
//
// Compute `pixels` results, of which only the bytes are written. `x` is the
// window of the first; bytes behind windows may be read as far as kSlackBytes.
void LargestRow(const Pool &pool, const int8_t *x, int pixels, int8_t *y);
void AverageRow(const Pool &pool,
                const Average &average,
                const int8_t *x,
                int pixels,
                int8_t *y);

// Of `count` bytes, at least 1; those behind may be read as far as kSlackBytes.
int8_t LargestOfRun(const int8_t *x, int count);
int32_t SumOfRun(const int8_t *x, int count);

}  // namespace mace::hexagon

#endif  // MACE_KERNELS_HEXAGON_POOLING_H_
