// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Softmax of rows of bytes (docs/reference/quantization.md):
//
//   k[i] = max - x[i]                              0 to 255
//   m = float32(1 / (float64(sum of E[k[i]]) * scale))
//   y[i] = clamp(round(float32(E[k[i]]) * m) + zero)
//
// m needs the rounding of float64, which is done in integers.

#ifndef MACE_KERNELS_HEXAGON_SOFTMAX_H_
#define MACE_KERNELS_HEXAGON_SOFTMAX_H_

#include "mace/kernels/hexagon/scaled.h"

namespace mace::hexagon {

struct Softmax {
  // E: 256 words, each at most 2^30, E[0] = 2^30; a multiple of 128.
  const int32_t *exponentials;
  float scale;  // of the results, a normal number above 0
  ByteRange range;
};

// float32(1 / (float64(sum) * scale)), for a sum of 2^30 to 2^52; the least
// normal number if it is smaller.
float SoftmaxFactor(uint64_t sum, float scale);

// `count` elements, at most kMostSoftmax (program/instructions.h), of each of
// `rows` rows, which are `step` bytes apart; only these are written. `y` may be
// `x`. Bytes behind a row may be read as far as kSlackBytes.
void SoftmaxRows(const Softmax &softmax,
                 const int8_t *x,
                 int x_step,
                 int count,
                 int rows,
                 int8_t *y,
                 int y_step);

}  // namespace mace::hexagon

#endif  // MACE_KERNELS_HEXAGON_SOFTMAX_H_
