// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Moves of bytes: of concatenations, slices, pads, blocks of pixels, images of
// other sizes, and operands that are repeated. A step is the
// distance of two pixels in bytes. Only bytes of results are written; bytes
// behind those that are read may be read as far as kSlackBytes. No result
// overlaps what it is made of.

#ifndef MACE_KERNELS_HEXAGON_MOVES_H_
#define MACE_KERNELS_HEXAGON_MOVES_H_

#include "mace/kernels/hexagon/scaled.h"

namespace mace::hexagon {

// `bytes` of each pixel. With the step 0, one pixel is repeated.
void CopyPixels(
    const int8_t *x, int x_step, int8_t *y, int y_step, int bytes, int pixels);

// Pixel i is the one at offsets[i] bytes.
void GatherPixels(const int8_t *x,
                  const int32_t *offsets,
                  int8_t *y,
                  int y_step,
                  int bytes,
                  int pixels);

// `bytes` of each pixel, all of which are `byte`.
void FillPixels(int8_t byte, int8_t *y, int y_step, int bytes, int pixels);

// `bytes` of each pixel, all of which are the first byte of x's pixel.
void SpreadPixels(
    const int8_t *x, int x_step, int8_t *y, int y_step, int bytes, int pixels);

// y[c * y_step + r] = x[r * x_step + c].
void TransposeBytes(
    const int8_t *x, int x_step, int rows, int columns, int8_t *y, int y_step);

}  // namespace mace::hexagon

#endif  // MACE_KERNELS_HEXAGON_MOVES_H_
