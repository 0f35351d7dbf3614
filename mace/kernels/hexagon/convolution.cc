// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/hexagon/convolution.h"

namespace mace::hexagon {
namespace {

// The sum of the bytes of a window, in every word.
Vector SumOfWindow(const int8_t *x, const Window &window) {
  const Vector ones = Words(kEachByte);
  Vector sum = Q6_V_vzero();
  const int bytes = window.run_steps * kStepBytes;
  for (int run = 0; run < window.runs; ++run) {
    const int8_t *first = x + run * window.run_stride;
    int i = 0;
    for (; i + kVectorBytes <= bytes; i += kVectorBytes) {
      sum = Q6_Vw_vrmpyacc_VwVbVb(sum, LoadUnaligned(first + i), ones);
    }
    if (i < bytes) {
      const Vector rest =
          Q6_V_vand_QV(Q6_Q_vsetq_R(bytes - i), LoadUnaligned(first + i));
      sum = Q6_Vw_vrmpyacc_VwVbVb(sum, rest, ones);
    }
  }
  return SumOfWords(sum);
}

constexpr int kMostBlocks = 32;  // 4096 channels

}  // namespace

void ConvolveRow(const Convolution &c,
                 const int8_t *image,
                 int pixels,
                 int8_t *result) {
  const int blocks = (c.groups + kBlockGroups - 1) / kBlockGroups;
  const auto *bias = reinterpret_cast<const Vector *>(c.results.bias);
  Vector bytes[kTilePixels * kMostBlocks];
  Vector sums[kTilePixels * kTileGroups];
  Vector offsets[kTilePixels];
  const int8_t *end = result + static_cast<int64_t>(pixels) * c.pixel_bytes;
  for (int first = 0; first < pixels; first += kTilePixels) {
    const int count =
        pixels - first < kTilePixels ? pixels - first : kTilePixels;
    const int8_t *x[kTilePixels];
    for (int p = 0; p < count; ++p) {
      x[p] = image + (first + p) * c.step_bytes;
      offsets[p] =
          Q6_Vw_vasl_VwR(SumOfWindow(x[p], c.window), 7);  // * kWeightOffset
    }
    const auto *packed = reinterpret_cast<const Vector *>(c.weights);
    for (int b = 0; b < blocks; ++b) {
      const int group = b * kBlockGroups;
      const int rest = c.groups - group;
      const int groups = rest < kBlockGroups ? rest : kBlockGroups;
      for (int p = 0; p < count; ++p) {
        for (int g = 0; g < groups; ++g) {
          sums[p * groups + g] = Q6_Vw_vsub_VwVw(bias[group + g], offsets[p]);
        }
      }
      AddTile(count, groups, x, c.window, packed, sums);
      packed += WeightVectors(c.window, groups);
      ToBytes(c.results, group, groups, count, sums, blocks, bytes + b);
    }
    // A vector may reach over the end of its pixel: the next one overwrites
    // that.
    for (int p = 0; p < count; ++p) {
      int8_t *to = result + static_cast<int64_t>(first + p) * c.pixel_bytes;
      for (int b = 0; b < blocks; ++b) {
        int8_t *part = to + b * kBlockChannels;
        if (part + kVectorBytes <= end) {
          StoreUnaligned(bytes[p * blocks + b], part);
        } else if (part < end) {
          StoreFirst(bytes[p * blocks + b], part, static_cast<int>(end - part));
        }
      }
    }
  }
}

}  // namespace mace::hexagon
