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
void AddColumn(const int8_t *x,
               int height,
               int row_bytes,
               int groups,
               const Vector *weights,
               Vector *sums) {
  for (int first = 0; first < height; first += kRows) {
    Vector rows[kRows];
    for (int i = 0; i < kRows; ++i) {
      rows[i] = first + i < height ? LoadUnaligned(x + (first + i) * row_bytes)
                                   : Q6_V_vzero();
    }
    const Quad quad = Interleaved(rows);
    for (int g = 0; g < groups; ++g) {
      sums[g] = Q6_Vw_vrmpyacc_VwVbVb(sums[g], quad.words[g], weights[g]);
    }
    weights += groups;
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
  const auto *bias = reinterpret_cast<const Vector *>(d.results.bias);
  const int quads = Quads(d.height);
  Vector sums[kPixels * kBlockGroups];
  Vector bytes[kPixels];
  for (int block = 0; block < d.groups; block += kBlockGroups) {
    const int rest = d.groups - block;
    const int groups = rest < kBlockGroups ? rest : kBlockGroups;
    const int first_byte = block * kVectorWords;
    const int left = d.pixel_bytes - first_byte;
    for (int first = 0; first < pixels; first += kPixels) {
      const int count = pixels - first < kPixels ? pixels - first : kPixels;
      for (int p = 0; p < count; ++p) {
        const int8_t *x = image + first_byte + (first + p) * d.step_bytes;
        Vector *of_pixel = sums + p * groups;
        for (int g = 0; g < groups; ++g) of_pixel[g] = bias[block + g];
        for (int column = 0; column < d.width; ++column) {
          AddColumn(x + column * d.column_bytes, d.height, d.row_bytes, groups,
                    weights + column * quads * groups, of_pixel);
        }
      }
      ToBytes(d.results, block, groups, count, sums, 1, bytes);
      for (int p = 0; p < count; ++p) {
        int8_t *to = result + first_byte +
                     static_cast<int64_t>(first + p) * d.pixel_bytes;
        if (left >= kVectorBytes) {
          StoreUnaligned(bytes[p], to);
        } else {
          StoreFirst(bytes[p], to, left);
        }
      }
    }
    weights += int64_t{quads} * d.width * groups;
  }
}

}  // namespace mace::hexagon
