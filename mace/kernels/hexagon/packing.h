// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// What is prepared for kernels: weights and multipliers in the order in which
// they are read. The DSP and the processor beside it compile this file.

#ifndef MACE_KERNELS_HEXAGON_PACKING_H_
#define MACE_KERNELS_HEXAGON_PACKING_H_

#include <stdint.h>

namespace mace::hexagon {

// A vector of HVX: 32 words.
constexpr int kVectorBytes = 128;
constexpr int kVectorWords = kVectorBytes / 4;
// A block: 128 channels in 4 groups of 32.
constexpr int kBlockGroups = 4;
constexpr int kBlockChannels = kBlockGroups * kVectorWords;
// What lies behind a tensor: loads of whole vectors may read that far.
constexpr int kSlackBytes = kVectorBytes;

// Bytes that a step of the loop over products reads of each pixel.
constexpr int kStepBytes = 8;
constexpr int kWeightOffset = 128;

// What of an image a pixel of the result reads: runs of bytes, of which each is
// a row of the filter.
struct Window {
  int runs;
  int run_stride;  // bytes from one run to the next, a multiple of 8
  int run_steps;   // steps of 8 bytes
};

// Weights of a block lie in the order in which they are read:
// [runs][steps][2][groups][32 channels][4 bytes of x].
inline int64_t WeightVectors(const Window &window, int groups) {
  return int64_t{2} * window.runs * window.run_steps * groups;
}

// Packs filters [channels][runs][run_bytes] of a block; missing channels become
// 0.
void PackWeights(const int8_t *filters,
                 int channels,
                 int groups,
                 int run_bytes,
                 const Window &window,
                 uint8_t *packed);

// Bytes of packed weights of a depthwise convolution.
int64_t DepthwiseBytes(int groups, int height, int width);

// Packs filters [height][width][channels] as DepthwiseRow reads them:
// [blocks of 128 channels][even, odd channels][height / 4][width]
// [2 classes of channels by 4][32 channels][4 bytes], with 0 for what is
// missing. Blocks of 32 or 64 channels fill their vectors: for several pixels.
void PackDepthwise(const int8_t *filters,
                   int channels,
                   int groups,
                   int height,
                   int width,
                   int8_t *packed);

// Bytes of a matrix [depth, columns] that matrices.h packs; a multiple of 128.
inline int64_t PackedMatrixBytes(int64_t depth, int64_t columns) {
  const int64_t blocks = (columns + kBlockChannels - 1) / kBlockChannels;
  // Of each block, sums of its columns follow.
  return blocks * ((depth + 3) / 4 + 1) * kBlockGroups * kVectorBytes;
}

// The parts of a multiplier of requantize.h; false unless it is a normal number
// above 0.
bool SplitMultiplier(float m, int32_t *mantissa, int32_t *shift);

// The factor of a channel whose sums are at most `most`, for FastProduct of
// requantize.h; false if its results would not fit.
bool FastFactor(float m, uint32_t most, int left, int32_t *factor);

}  // namespace mace::hexagon

#endif  // MACE_KERNELS_HEXAGON_PACKING_H_
