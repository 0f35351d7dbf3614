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

// Adds the products of a column of the filter. `weights`: [quads][groups].
template <int kGroups>
void AddColumn(const int8_t *x,
               int height,
               int row_bytes,
               const Vector *weights,
               Vector *sums) {
  for (int first = 0; first < height; first += kRows) {
    Vector rows[kRows];
    for (int i = 0; i < kRows; ++i) {
      rows[i] = first + i < height ? LoadUnaligned(x + (first + i) * row_bytes)
                                   : Q6_V_vzero();
    }
    const Quad quad = Interleaved(rows);
    for (int g = 0; g < kGroups; ++g) {
      sums[g] = Q6_Vw_vrmpyacc_VwVbVb(sums[g], quad.words[g], weights[g]);
    }
    weights += kGroups;
  }
}

// A row of a block of kGroups groups, the first of them `group`.
template <int kGroups>
void DepthwiseBlock(const Depthwise &d,
                    int group,
                    const Vector *weights,
                    const int8_t *image,
                    int pixels,
                    int8_t *result) {
  using Block = BlockResults<kGroups>;
  const Block block(d.results, group);
  const Vector *bias = reinterpret_cast<const Vector *>(d.results.bias) + group;
  const int first_byte = group * kVectorWords;
  int size = d.pixel_bytes - first_byte;
  if (size > kGroups * kVectorWords) size = kGroups * kVectorWords;
  int8_t *to = result + first_byte;
  const int quads = Quads(d.height);
  for (int first = 0; first < pixels; first += kPixels) {
    Vector sums[kPixels][kGroups];
    for (int p = 0; p < kPixels; ++p) {
      const int pixel = first + p < pixels ? first + p : pixels - 1;
      const int8_t *x = image + first_byte + pixel * d.step_bytes;
      for (int g = 0; g < kGroups; ++g) sums[p][g] = bias[g];
      for (int column = 0; column < d.width; ++column) {
        AddColumn<kGroups>(x + column * d.column_bytes, d.height, d.row_bytes,
                           weights + column * quads * kGroups, sums[p]);
      }
    }
    Vector bytes[Block::kVectors];
    block.ToBytes(sums, bytes);
    for (int v = 0; v < Block::kVectors; ++v) {
      const int p = first + v * Block::kPixels;
      StorePixels<Block::kPixels>(bytes[v], pixels - p, size,
                                  to + p * d.pixel_bytes, d.pixel_bytes);
    }
  }
}

}  // namespace

int64_t DepthwiseBytes(int groups, int height, int width) {
  return int64_t{kVectorBytes} * groups * Quads(height) * width;
}

void PackDepthwise(const int8_t *filters,
                   int channels,
                   int groups,
                   int height,
                   int width,
                   int8_t *packed) {
  for (int block = 0; block < groups; block += kBlockGroups) {
    const int rest = groups - block;
    const int in_block = rest < kBlockGroups ? rest : kBlockGroups;
    const int first = block * kVectorWords;
    for (int column = 0; column < width; ++column) {
      for (int quad = 0; quad < Quads(height); ++quad) {
        for (int c = first; c < first + in_block * kVectorWords; ++c) {
          for (int row = quad * kRows; row < (quad + 1) * kRows; ++row) {
            const bool known = c < channels && row < height;
            *packed++ = known ? filters[(row * width + column) * channels + c]
                              : int8_t{0};
          }
        }
      }
    }
  }
}

void DepthwiseRow(const Depthwise &d,
                  const int8_t *image,
                  int pixels,
                  int8_t *result) {
  const auto *weights = reinterpret_cast<const Vector *>(d.weights);
  const int steps = Quads(d.height) * d.width;
  for (int group = 0; group < d.groups; group += kBlockGroups) {
    const int rest = d.groups - group;
    const int groups = rest < kBlockGroups ? rest : kBlockGroups;
    switch (groups) {
      case 1:
        DepthwiseBlock<1>(d, group, weights, image, pixels, result);
        break;
      case 2:
        DepthwiseBlock<2>(d, group, weights, image, pixels, result);
        break;
      case 3:
        DepthwiseBlock<3>(d, group, weights, image, pixels, result);
        break;
      default:
        DepthwiseBlock<4>(d, group, weights, image, pixels, result);
    }
    weights += int64_t{groups} * steps;
  }
}

}  // namespace mace::hexagon
