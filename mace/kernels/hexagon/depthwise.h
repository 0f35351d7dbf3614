// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Depthwise convolutions of bytes: each channel has a filter of its own. Up to
// four rows of a column of the filter are the four bytes of a word, which
// `vrmpy` multiplies and adds: 32 channels at a time. Four vectors of words
// have the 128 channels of a block, one for each remainder of the channel by 4,
// for which the bytes of rows need the fewest shuffles.

#ifndef MACE_KERNELS_HEXAGON_DEPTHWISE_H_
#define MACE_KERNELS_HEXAGON_DEPTHWISE_H_

#include "mace/kernels/hexagon/results.h"

namespace mace::hexagon {

struct Depthwise {
  int height;  // of the filter
  int width;
  int row_bytes;     // of the image, from a row of the filter to the next one
  int column_bytes;  // from a column of the filter to the next one
  int step_bytes;    // from the window of a pixel to the next one
  int groups;        // vectors of 32 channels
  int pixel_bytes;   // of the result, at most 32 * groups
  // See PackDepthwise of packing.h.
  const int8_t *weights;
  Results results;
};

// Computes `pixels` results, of which only the bytes are written. `image` is
// the window of the first; what is behind its last byte may be read as far as
// kSlackBytes.
void DepthwiseRow(const Depthwise &depthwise,
                  const int8_t *image,
                  int pixels,
                  int8_t *result);

}  // namespace mace::hexagon

#endif  // MACE_KERNELS_HEXAGON_DEPTHWISE_H_
