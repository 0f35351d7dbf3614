// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/hexagon/convolution.h"

namespace mace::hexagon {
namespace {

constexpr int kOffsetBits = 7;  // kWeightOffset is 2^7
constexpr int kPart = 4;        // pixels whose offsets are in one vector

// The sums of the bytes of the windows of 4 pixels, in words 0 to 3.
Vector SumsOfWindows(const int8_t *const *x, const Window &window) {
  const Vector ones = Words(kEachByte);
  Vector sums[kPart];
  for (Vector &sum : sums) sum = Q6_V_vzero();
  const int bytes = window.run_steps * kStepBytes;
  const int rest = bytes % kVectorBytes;
  const Mask last = Q6_Q_vsetq_R(rest);
  for (int run = 0; run < window.runs; ++run) {
    for (int p = 0; p < kPart; ++p) {
      const int8_t *first = x[p] + run * window.run_stride;
      int i = 0;
      for (; i + kVectorBytes <= bytes; i += kVectorBytes) {
        sums[p] =
            Q6_Vw_vrmpyacc_VwVbVb(sums[p], LoadUnaligned(first + i), ones);
      }
      if (rest != 0) {
        sums[p] = Q6_Vw_vrmpyacc_VwVbVb(
            sums[p], Q6_V_vand_QV(last, LoadUnaligned(first + i)), ones);
      }
    }
  }
  // Words of pixels alternate: 16 of each of two, then 8 of each of four.
  const Pair a = Q6_W_vshuff_VVR(sums[1], sums[0], -4);
  const Pair b = Q6_W_vshuff_VVR(sums[3], sums[2], -4);
  const Pair all =
      Q6_W_vshuff_VVR(Q6_Vw_vadd_VwVw(Q6_V_hi_W(b), Q6_V_lo_W(b)),
                      Q6_Vw_vadd_VwVw(Q6_V_hi_W(a), Q6_V_lo_W(a)), -8);
  Vector sum = Q6_Vw_vadd_VwVw(Q6_V_hi_W(all), Q6_V_lo_W(all));
  for (int shift = kVectorBytes / 2; shift >= 16; shift /= 2) {
    sum = Q6_Vw_vadd_VwVw(sum, Q6_V_vror_VR(sum, shift));
  }
  return sum;
}

// What the offset of the weights adds to all sums of a pixel.
void FindOffsets(const Convolution &c,
                 const int8_t *image,
                 int pixels,
                 Vector *offsets) {
  for (int first = 0; first < pixels; first += kPart) {
    const int8_t *x[kPart];
    for (int p = 0; p < kPart; ++p) {
      const int pixel = first + p < pixels ? first + p : pixels - 1;
      x[p] = image + pixel * c.step_bytes;
    }
    *offsets++ = Q6_Vw_vasl_VwR(SumsOfWindows(x, c.window), kOffsetBits);
  }
}

// A row of a block of kGroups groups, the first of them `group`.
template <int kGroups>
void ConvolveBlock(const Convolution &c,
                   int group,
                   const Vector *weights,
                   const int8_t *image,
                   int pixels,
                   const int32_t *offsets,
                   int8_t *result) {
  constexpr int kTile = TilePixels(kGroups);
  const BlockResults<kGroups> block(c.results, group);
  const Vector *bias = reinterpret_cast<const Vector *>(c.results.bias) + group;
  for (int first = 0; first < pixels; first += kTile) {
    const int8_t *x[kTile];
    for (int p = 0; p < kTile; ++p) {
      const int pixel = first + p < pixels ? first + p : pixels - 1;
      x[p] = image + pixel * c.step_bytes;
    }
    Vector sums[kTile][kGroups];
    for (int p = 0; p < kTile; ++p) {
      const int32_t offset = offsets[p % kPart + p / kPart * kVectorWords];
      for (int g = 0; g < kGroups; ++g) {
        sums[p][g] = Q6_Vw_vsub_VwVw(bias[g], Words(offset));
      }
    }
    offsets += kTile / kPart * kVectorWords;
    AddProducts<kTile, kGroups>(x, c.window, weights, sums);
    for (int part = 0; part < kTile; part += kPart) {
      const int p = first + part;
      StoreBlock<kGroups>(block, sums + part, group, pixels - p, c.pixel_bytes,
                          result + p * c.pixel_bytes);
    }
  }
}

}  // namespace

void ConvolveRow(const Convolution &c,
                 const int8_t *image,
                 int pixels,
                 int8_t *result) {
  constexpr int kMost = 256;  // pixels whose offsets are kept
  Vector offsets[kMost / kPart];
  for (int first = 0; first < pixels; first += kMost) {
    const int count = pixels - first < kMost ? pixels - first : kMost;
    const int8_t *x = image + static_cast<int64_t>(first) * c.step_bytes;
    int8_t *y = result + static_cast<int64_t>(first) * c.pixel_bytes;
    FindOffsets(c, x, count, offsets);
    const auto *words = reinterpret_cast<const int32_t *>(offsets);
    const auto *weights = reinterpret_cast<const Vector *>(c.weights);
    for (int group = 0; group < c.groups; group += kBlockGroups) {
      const int rest = c.groups - group;
      const int groups = rest < kBlockGroups ? rest : kBlockGroups;
      switch (groups) {
        case 1:
          ConvolveBlock<1>(c, group, weights, x, count, words, y);
          break;
        case 2:
          ConvolveBlock<2>(c, group, weights, x, count, words, y);
          break;
        case 3:
          ConvolveBlock<3>(c, group, weights, x, count, words, y);
          break;
        default:
          ConvolveBlock<4>(c, group, weights, x, count, words, y);
      }
      weights += WeightVectors(c.window, groups);
    }
  }
}

}  // namespace mace::hexagon
