// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/hexagon/depthwise.h"

namespace mace::hexagon {
namespace {

constexpr int kPixels = 4;
constexpr int kRows = 4;  // bytes of a word

// The bytes of four rows, for each of 128 channels.
struct Quad {
  Vector words[kBlockGroups];
};

Quad Interleaved(const Vector (&rows)[kRows]) {
  const Pair low = Q6_W_vshuff_VVR(rows[1], rows[0], -1);
  const Pair high = Q6_W_vshuff_VVR(rows[3], rows[2], -1);
  const Pair first = Q6_W_vshuff_VVR(Q6_V_lo_W(high), Q6_V_lo_W(low), -2);
  const Pair second = Q6_W_vshuff_VVR(Q6_V_hi_W(high), Q6_V_hi_W(low), -2);
  return {{Q6_V_lo_W(first), Q6_V_hi_W(first), Q6_V_lo_W(second),
           Q6_V_hi_W(second)}};
}

int Quads(int height) { return (height + kRows - 1) / kRows; }

// The bytes of rows `first` to `first` + 3 of a column; 0 for those below the
// filter.
__attribute__((always_inline)) inline Quad LoadQuad(const int8_t *x,
                                                    int first,
                                                    int height,
                                                    int row_bytes) {
  Vector rows[kRows];
  for (int i = 0; i < kRows; ++i) {
    rows[i] = first + i < height ? LoadUnaligned(x + (first + i) * row_bytes)
                                 : Q6_V_vzero();
  }
  return Interleaved(rows);
}

// Adds the products of 4 pixels, of which a vector has the bytes of 4 / kGroups
// if their channels and windows lie side by side (kJoined). kHeight: of the
// filter; 0: any.
template <int kGroups, int kHeight, bool kJoined>
__attribute__((always_inline)) inline void AddWindows(const Depthwise &d,
                                                      const int8_t *const *x,
                                                      const Vector *weights,
                                                      Vector (*sums)[kGroups]) {
  constexpr int kTogether = kJoined ? kBlockGroups / kGroups : 1;
  const int height = kHeight != 0 ? kHeight : d.height;
  Vector acc[kPixels][kGroups];
  for (int p = 0; p < kPixels; ++p) {
    for (int g = 0; g < kGroups; ++g) acc[p][g] = sums[p][g];
  }
  for (int column = 0; column < d.width; ++column) {
    const int offset = column * d.column_bytes;
    for (int first = 0; first < height; first += kRows) {
      Vector w[kGroups];
      for (int g = 0; g < kGroups; ++g) w[g] = *weights++;
      for (int p = 0; p < kPixels; p += kTogether) {
        const Quad quad = LoadQuad(x[p] + offset, first, height, d.row_bytes);
        for (int i = 0; i < kTogether * kGroups; ++i) {
          Vector &sum = acc[p + i / kGroups][i % kGroups];
          sum = Q6_Vw_vrmpyacc_VwVbVb(sum, quad.words[i], w[i % kGroups]);
        }
      }
    }
  }
  for (int p = 0; p < kPixels; ++p) {
    for (int g = 0; g < kGroups; ++g) sums[p][g] = acc[p][g];
  }
}

// A row of a block of kGroups groups, the first of them `group`.
template <int kGroups, int kHeight, bool kJoined>
void DepthwiseBlock(const Depthwise &d,
                    int group,
                    const Vector *weights,
                    const int8_t *image,
                    int pixels,
                    int8_t *result) {
  const BlockResults<kGroups> block(d.results, group);
  const Vector *bias = reinterpret_cast<const Vector *>(d.results.bias) + group;
  const int first_byte = group * kVectorWords;
  for (int first = 0; first < pixels; first += kPixels) {
    Vector sums[kPixels][kGroups];
    const int8_t *x[kPixels];
    for (int p = 0; p < kPixels; ++p) {
      const int pixel = first + p < pixels ? first + p : pixels - 1;
      x[p] = image + first_byte + pixel * d.step_bytes;
      for (int g = 0; g < kGroups; ++g) sums[p][g] = bias[g];
    }
    AddWindows<kGroups, kHeight, kJoined>(d, x, weights, sums);
    StoreBlock<kGroups>(block, sums, group, pixels - first, d.pixel_bytes,
                        result + first * d.pixel_bytes);
  }
}

using Function = void (*)(const Depthwise &d,
                          int group,
                          const Vector *weights,
                          const int8_t *image,
                          int pixels,
                          int8_t *result);

template <int kGroups, bool kJoined>
Function OfHeight(int height) {
  return height == 3   ? DepthwiseBlock<kGroups, 3, kJoined>
         : height == 5 ? DepthwiseBlock<kGroups, 5, kJoined>
                       : DepthwiseBlock<kGroups, 0, kJoined>;
}

Function FunctionOf(const Depthwise &d, int groups) {
  // Windows side by side; the last pixels read what lies behind the row.
  const bool joined = d.step_bytes == groups * kVectorWords;
  switch (groups) {
    case 1:
      return joined ? OfHeight<1, true>(d.height)
                    : OfHeight<1, false>(d.height);
    case 2:
      return joined ? OfHeight<2, true>(d.height)
                    : OfHeight<2, false>(d.height);
    case 3:
      return OfHeight<3, false>(d.height);
    default:
      return OfHeight<4, false>(d.height);
  }
}

}  // namespace

void DepthwiseRow(const Depthwise &d,
                  const int8_t *image,
                  int pixels,
                  int8_t *result) {
  const auto *weights = reinterpret_cast<const Vector *>(d.weights);
  const int steps = Quads(d.height) * d.width;
  for (int group = 0; group < d.groups; group += kBlockGroups) {
    const int rest = d.groups - group;
    const int groups = rest < kBlockGroups ? rest : kBlockGroups;
    FunctionOf(d, groups)(d, group, weights, image, pixels, result);
    weights += int64_t{groups} * steps;
  }
}

}  // namespace mace::hexagon
