// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of bytes with a result of bytes, for one row of the result at a
// time.

#ifndef MACE_KERNELS_HEXAGON_CONVOLUTION_H_
#define MACE_KERNELS_HEXAGON_CONVOLUTION_H_

#include "mace/kernels/hexagon/products.h"
#include "mace/kernels/hexagon/results.h"

namespace mace::hexagon {

struct Convolution {
  Window window;
  int step_bytes;   // from the window of a pixel to the next one, a multiple of
                    // 8
  int groups;       // vectors of 32 channels
  int pixel_bytes;  // of the result, at most 32 * groups
  // By blocks of 128 channels, the last one with fewer groups; see PackWeights.
  const uint8_t *weights;
  Results results;
  // Of the channels, only those from this group on are computed: a multiple of
  // kBlockGroups. Everything else is that of all channels. Other threads may
  // compute the groups before it at the same time if pixels of the result are
  // a multiple of a block's bytes, or there is one pixel.
  int first_group = 0;
};

// Computes `pixels` results. `image` is the window of the first, a multiple of
// 8; the result may begin anywhere. Only the bytes of the row are written. What
// is behind the last window may be read as far as kSlackBytes.
void ConvolveRow(const Convolution &convolution,
                 const int8_t *image,
                 int pixels,
                 int8_t *result);

// Rows of a result. Several of them at once take less than one at a time if
// their pixels are no multiple of a tile's.
struct Rows {
  int rows;
  int pixels;       // of each
  int image_bytes;  // from the first window of a row to that of the next one, a
                    // multiple of 8
  int result_bytes;  // from a row of the result to the next one
};

// As ConvolveRow, of several rows.
void ConvolveRows(const Convolution &convolution,
                  const Rows &rows,
                  const int8_t *image,
                  int8_t *result);

}  // namespace mace::hexagon

#endif  // MACE_KERNELS_HEXAGON_CONVOLUTION_H_
