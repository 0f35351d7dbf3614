// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of bytes with a result of bytes, for one row of the result at a
// time.

#ifndef MACE_KERNELS_HEXAGON_CONVOLUTION_H_
#define MACE_KERNELS_HEXAGON_CONVOLUTION_H_

#include "mace/kernels/hexagon/products.h"

namespace mace::hexagon {

// Channels that are computed together.
constexpr int kBlockChannels = kTileGroups * kVectorWords;
// What lies behind a tensor: stores of whole vectors may write that far.
constexpr int kSlackBytes = kVectorBytes;

// Channels are rounded up to a multiple of 32 in all of these, which begin at
// multiples of 128 bytes.
struct ConvolutionWeights {
  // By blocks of 128 channels, the last one with fewer groups; see PackWeights.
  const uint8_t *packed;
  const int32_t *bias;      // with what the zero point of the input adds
  const int32_t *mantissa;  // see SplitMultiplier
  const int32_t *shift;
  const int32_t *factor;  // see FastFactor; null: all results are exact
  int left;               // of factors
  bool is_float;          // every sum is at most 2^24
};

struct Convolution {
  Window window;
  int step_bytes;   // from the window of a pixel to the next one, a multiple of
                    // 8
  int groups;       // vectors of 32 channels
  int pixel_bytes;  // of the result, at most 32 * groups
  int8_t zero;      // zero point of the result, as int8
  int8_t low;       // limits of the result
  int8_t high;
  ConvolutionWeights weights;
};

// Computes `pixels` results. `image` is the window of the first, a multiple of
// 8; the result may begin anywhere. Only the bytes of the row are written.
void ConvolveRow(const Convolution &convolution,
                 const int8_t *image,
                 int pixels,
                 int8_t *result);

}  // namespace mace::hexagon

#endif  // MACE_KERNELS_HEXAGON_CONVOLUTION_H_
