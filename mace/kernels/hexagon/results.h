// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums of channels to the bytes of pixels.

#ifndef MACE_KERNELS_HEXAGON_RESULTS_H_
#define MACE_KERNELS_HEXAGON_RESULTS_H_

#include "mace/kernels/hexagon/hvx.h"

namespace mace::hexagon {

// A block: 128 channels in 4 groups of 32.
constexpr int kBlockGroups = 4;
constexpr int kBlockChannels = kBlockGroups * kVectorWords;
// What lies behind a tensor: stores of whole vectors may write that far.
constexpr int kSlackBytes = kVectorBytes;

// How sums become bytes. Arrays have an element for each channel, rounded up to
// a multiple of 32, and begin at multiples of 128 bytes.
struct Results {
  const int32_t *bias;      // with what the zero point of the input adds
  const int32_t *mantissa;  // see SplitMultiplier
  const int32_t *shift;
  const int32_t *factor;  // see FastFactor; null: all results are exact
  int left;               // of factors
  bool is_float;          // every sum is at most 2^24
  int8_t zero;            // zero point, as int8
  int8_t low;             // limits of the result
  int8_t high;
};

// Turns sums, with the bias, to bytes.
//   first_group, groups: of the block, 1 to 4 groups
//   sums: [pixels][groups]
//   bytes: of pixel p at bytes[p * stride]; those of missing groups have no
//   meaning
void ToBytes(const Results &results,
             int first_group,
             int groups,
             int pixels,
             const Vector *sums,
             int stride,
             Vector *bytes);

}  // namespace mace::hexagon

#endif  // MACE_KERNELS_HEXAGON_RESULTS_H_
