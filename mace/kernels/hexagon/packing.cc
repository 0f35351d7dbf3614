// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/hexagon/packing.h"

namespace mace::hexagon {
namespace {

constexpr int kWordBytes = 4;
constexpr int kRows = 4;       // of a depthwise filter, the bytes of a word
constexpr int kSpareBits = 7;  // of a mantissa in a word, above its 24 bits

int Quads(int height) { return (height + kRows - 1) / kRows; }

}  // namespace

void PackWeights(const int8_t *filters,
                 int channels,
                 int groups,
                 int run_bytes,
                 const Window &window,
                 uint8_t *packed) {
  for (int run = 0; run < window.runs; ++run) {
    for (int word = 0; word < 2 * window.run_steps; ++word) {
      for (int channel = 0; channel < groups * kVectorWords; ++channel) {
        for (int i = 0; i < kWordBytes; ++i) {
          const int byte = word * kWordBytes + i;
          uint8_t weight = kWeightOffset;
          if (channel < channels && byte < run_bytes) {
            const int8_t w =
                filters[(channel * window.runs + run) * run_bytes + byte];
            weight = static_cast<uint8_t>(w + kWeightOffset);
          }
          *packed++ = weight;
        }
      }
    }
  }
}

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

bool SplitMultiplier(float m, int32_t *mantissa, int32_t *shift) {
  const auto bits = __builtin_bit_cast(uint32_t, m);
  const auto exponent = static_cast<int32_t>(bits >> 23);
  if (exponent == 0 || exponent >= 255) return false;
  *mantissa = static_cast<int32_t>((bits & 0x7fffffu) | 0x800000u)
              << kSpareBits;
  *shift = 150 - exponent;
  return true;
}

bool FastFactor(float m, uint32_t most, int left, int32_t *factor) {
  int32_t mantissa = 0;
  int32_t shift = 0;
  if (!SplitMultiplier(m, &mantissa, &shift)) return false;
  // m * 2^(47 - left) = mantissa * 2^right.
  const int right = 47 - left - kSpareBits - shift;
  if (right > 0 || (most >> (30 - left)) != 0) return false;
  *factor = right < -31 ? 0 : mantissa >> -right;
  const int64_t largest = (static_cast<int64_t>(most) << left) * *factor;
  return (largest >> 31) < INT32_MAX - (1 << 16);
}

}  // namespace mace::hexagon
