// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/hexagon/packing.h"

namespace mace::hexagon {
namespace {

constexpr int kWordBytes = 4;
constexpr int kRows = 4;     // of a depthwise filter, the bytes of a word
constexpr int kClasses = 4;  // vectors of words: channels 4 * i + class
// Even channels are computed first, then odd ones: two classes each.
constexpr int kParities = 2;
constexpr int kSpareBits = 7;  // of a mantissa in a word, above its 24 bits

int Quads(int height) { return (height + kRows - 1) / kRows; }

// Of rows that are too few for words of their own, words have bytes of other
// channels too. The byte of a word that belongs to row `row` of `rows`, for
// channels of a class.
int ByteOfRow(int channel_class, int row, int rows) {
  const int parity = channel_class & 1;
  switch (rows) {
    case 1:
      // The bytes of 4 channels.
      return channel_class;
    case 2:
      // Two rows of channels 4 * i + parity and 4 * i + 2 + parity.
      return (channel_class & 2) + row;
    case 3:
      // Two rows of a channel, and the third one of an even and an odd channel.
      return row < 2 ? row : 2 + parity;
    default:
      return row;
  }
}

// The word of a channel for up to four rows of a column of a filter.
void PackWord(const int8_t *column,
              int row_bytes,
              int rows,
              int channel_class,
              int8_t *word) {
  for (int row = 0; row < rows; ++row) {
    word[ByteOfRow(channel_class, row, rows)] = column[row * row_bytes];
  }
}

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
  const int blocks = (groups + kBlockGroups - 1) / kBlockGroups;
  return int64_t{kVectorBytes} * kClasses * blocks * Quads(height) * width;
}

void PackDepthwise(const int8_t *filters,
                   int channels,
                   int groups,
                   int height,
                   int width,
                   int8_t *packed) {
  const int row_bytes = width * channels;
  for (int block = 0; block < groups; block += kBlockGroups) {
    const int rest = groups - block;
    // Channels after which those of the next pixel begin.
    const int period = rest < 3 ? rest * kVectorWords : kBlockChannels;
    for (int i = 0; i < kParities * Quads(height) * width * 2; ++i) {
      const int parity = i / (Quads(height) * width * 2);
      const int first_row = i / (width * 2) % Quads(height) * kRows;
      const int column = i / 2 % width;
      const int channel_class = parity + i % 2 * 2;
      const int rows = height - first_row < kRows ? height - first_row : kRows;
      for (int word = 0; word < kVectorWords; ++word) {
        const int c =
            block * kVectorWords + (word * kClasses + channel_class) % period;
        for (int byte = 0; byte < kWordBytes; ++byte) packed[byte] = 0;
        if (c < channels) {
          PackWord(filters + first_row * row_bytes + column * channels + c,
                   row_bytes, rows, channel_class, packed);
        }
        packed += kWordBytes;
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
