// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of convolutions against loops and the scalar unit's floats.

#include "mace/kernels/hexagon/convolution.h"

#include "mace/kernels/hexagon/platform/expect.h"
#include "mace/kernels/hexagon/platform/memory.h"
#include "mace/kernels/hexagon/requantize.h"

namespace mace::hexagon {
namespace {

constexpr int kMostChannels = 1152;
constexpr int kMostFilterBytes = 320 * 3 * 256;
constexpr int kMostRuns = 3;
constexpr int kMostPixels = 11;
constexpr int kRunStride = 4096;
// From a row of the image to the next one, unless a case says otherwise.
constexpr int kImageBytes = 584;
constexpr int kGap = 24;  // between rows of the result
constexpr int kUntouched = 77;
constexpr int kLeft = 8;

struct Buffers {
  alignas(kVectorBytes)
      int8_t image[kRunStride * kMostRuns + 40 * kImageBytes + kVectorBytes];
  int8_t filters[kMostFilterBytes];
  alignas(kVectorBytes) uint8_t packed[kMostFilterBytes];
  alignas(kVectorBytes) int32_t bias[kMostChannels];
  alignas(kVectorBytes) int32_t mantissa[kMostChannels];
  alignas(kVectorBytes) int32_t shift[kMostChannels];
  alignas(kVectorBytes) int32_t factor[kMostChannels];
  float scale[kMostChannels];
  int8_t result[kVectorBytes + 2 * kMostPixels * 320 + kVectorBytes];
};

Buffers g_buffers;

uint32_t Next() {
  static uint64_t state = 11;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<uint32_t>(state >> 33);
}

int32_t Clamp(int32_t y, int32_t low, int32_t high) {
  return y < low ? low : y > high ? high : y;
}

struct Case {
  int rows;
  int pixels;  // of a row
  int channels;
  int pixel_bytes;
  int runs;
  int run_bytes;
  int step_bytes;
  bool fast;
  int offset;  // of the result's first byte
  int image_bytes = kImageBytes;
};

void Fill(const Case &t) {
  Buffers &b = g_buffers;
  for (int8_t &x : b.image) x = static_cast<int8_t>(Next());
  for (int i = 0; i < t.channels * t.runs * t.run_bytes; ++i) {
    b.filters[i] = static_cast<int8_t>(Next());
  }
  memset(b.result, kUntouched, sizeof(b.result));
  const float base = 1.0f / static_cast<float>(40 * 127 * t.runs);
  for (int c = 0; c < kMostChannels; ++c) {
    b.bias[c] = static_cast<int32_t>(Next() % 20001) - 10000;
    // Powers of 2 have many products that are halves.
    b.scale[c] = c % 3 == 0
                     ? 1.0f / 512
                     : base * static_cast<float>(Next() % 1000 + 1) * 0.001f;
    MACE_EXPECT_EQ(SplitMultiplier(b.scale[c], &b.mantissa[c], &b.shift[c]),
                   true);
    MACE_EXPECT_EQ(FastFactor(b.scale[c], 1u << 21, kLeft, &b.factor[c]), true);
  }
}

void PackFilters(const Case &t, const Window &window, int groups) {
  Buffers &b = g_buffers;
  uint8_t *packed = b.packed;
  for (int c = 0; c < groups * kVectorWords; c += kBlockChannels) {
    int in_block = groups - c / kVectorWords;
    if (in_block > kTileGroups) in_block = kTileGroups;
    PackWeights(b.filters + c * t.runs * t.run_bytes, t.channels - c, in_block,
                t.run_bytes, window, packed);
    packed += WeightVectors(window, in_block) * kVectorBytes;
  }
}

int32_t Wanted(const Case &t, const int8_t *x, int c) {
  Buffers &b = g_buffers;
  int32_t sum = b.bias[c];
  for (int run = 0; run < t.runs; ++run) {
    for (int i = 0; i < t.run_bytes; ++i) {
      sum += x[run * kRunStride + i] *
             b.filters[(c * t.runs + run) * t.run_bytes + i];
    }
  }
  const float y = static_cast<float>(sum) * b.scale[c];
  return Clamp(Q6_R_convert_sf2w_R(y) - 7, -100, 90);
}

void Test(const Case &t) {
  Buffers &b = g_buffers;
  const int groups = (t.channels + kVectorWords - 1) / kVectorWords;
  const Window window = {t.runs, kRunStride,
                         (t.run_bytes + kStepBytes - 1) / kStepBytes};
  Fill(t);
  PackFilters(t, window, groups);
  const Convolution convolution = {
      window,
      t.step_bytes,
      groups,
      t.pixel_bytes,
      b.packed,
      {b.bias, b.mantissa, b.shift, t.fast ? b.factor : nullptr, kLeft, true,
       -7, -100, 90}};
  int8_t *result = b.result + t.offset;
  const int row_bytes = t.pixels * t.pixel_bytes;
  const int result_bytes = row_bytes + kGap;
  const int end = t.offset + t.rows * result_bytes;
  MACE_EXPECT_EQ(end <= static_cast<int>(sizeof(b.result)), true);
  if (t.rows == 1) {
    ConvolveRow(convolution, b.image, t.pixels, result);
  } else {
    ConvolveRows(convolution, {t.rows, t.pixels, t.image_bytes, result_bytes},
                 b.image, result);
  }
  // Nothing else was written.
  int touched = 0;
  for (int i = 0; i < t.offset; ++i) touched += b.result[i] != kUntouched;
  for (int row = 0; row < t.rows; ++row) {
    for (int p = 0; p < t.pixels; ++p) {
      for (int c = 0; c < t.channels; ++c) {
        MACE_EXPECT_EQ(
            result[row * result_bytes + p * t.pixel_bytes + c],
            Wanted(t, b.image + row * t.image_bytes + p * t.step_bytes, c));
      }
    }
    for (int i = row_bytes; i < result_bytes; ++i) {
      touched += result[row * result_bytes + i] != kUntouched;
    }
  }
  for (int i = end; i < static_cast<int>(sizeof(b.result)); ++i) {
    touched += b.result[i] != kUntouched;
  }
  MACE_EXPECT_EQ(touched, 0);
}

constexpr Case kCases[] = {
    // rows, pixels, channels, pixel_bytes, runs, run_bytes, step_bytes, fast,
    // offset, image_bytes
    {1, 1, 32, 32, 1, 8, 8, false, 0},
    {1, 4, 128, 128, 1, 64, 64, true, 0},
    {1, 5, 64, 64, 1, 32, 32, true, 0},
    {1, 11, 24, 24, 1, 16, 16, true, 3},
    {1, 11, 1, 8, 3, 24, 8, true, 5},
    {1, 7, 96, 96, 3, 24, 8, false, 64},
    {1, 7, 200, 200, 1, 136, 136, true, 8},
    {1, 9, 320, 320, 3, 72, 24, true, 100},
    {1, 3, 130, 136, 2, 40, 8, false, 127},
    {1, 2, 16, 16, 1, 144, 144, true, 120},
    // One pixel, of whole blocks: some of them, more than are kept, the last
    // one with fewer bytes, short windows, and what another function computes.
    {1, 1, 256, 256, 1, 256, 256, true, 3},
    {1, 1, 1152, 1152, 1, 136, 136, true, 0},
    {1, 1, 1100, 1104, 1, 64, 64, true, 8},
    {1, 1, 100, 104, 1, 32, 32, true, 127},
    {1, 1, 128, 128, 1, 24, 24, true, 0},
    {1, 1, 128, 128, 1, 64, 64, false, 0},
    {1, 1, 128, 128, 2, 64, 64, true, 0},
    {1, 1, 160, 160, 1, 64, 64, true, 0},
    // Tiles across rows.
    {3, 7, 128, 128, 1, 64, 64, true, 0},
    {5, 3, 64, 64, 1, 32, 32, true, 8},
    {4, 1, 32, 32, 3, 24, 16, true, 0},
    {2, 10, 160, 160, 1, 24, 24, true, 16},
    {2, 9, 96, 96, 2, 48, 16, false, 0},
    // Units of windows of 64 and 128 bytes; more than 16 of them; apart.
    {2, 5, 32, 32, 2, 128, 64, true, 0},
    {3, 2, 8, 8, 1, 128, 256, true, 0},
    {1, 2, 40, 40, 1, 120, 560, true, 0},
    {1, 3, 8, 8, 1, 256, 128, true, 0},
    {1, 3, 8, 8, 1, 256, 64, true, 0},
    // Odd numbers of units, from one window to the next one.
    {1, 11, 24, 24, 1, 40, 40, true, 0},
    {1, 11, 8, 8, 3, 120, 40, true, 0},
    {1, 11, 8, 8, 1, 48, 80, true, 0},
    {3, 7, 40, 40, 1, 24, 24, true, 0},
    // Rows whose windows follow each other: of units, of vectors.
    {9, 3, 24, 24, 1, 24, 24, true, 0, 72},
    {5, 7, 8, 8, 1, 40, 40, true, 0, 280},
    {3, 5, 8, 8, 1, 136, 136, true, 0, 680},
    // More pixels than are computed at once.
    {1, 301, 8, 8, 1, 16, 8, true, 0},
    {30, 11, 8, 8, 1, 8, 8, true, 1},
    {17, 19, 1, 8, 1, 24, 8, false, 1},
};

}  // namespace
}  // namespace mace::hexagon

int main(int, char **) {
  for (const mace::hexagon::Case &test : mace::hexagon::kCases) {
    mace::hexagon::Test(test);
  }
  return mace::hexagon::Finish();
}
