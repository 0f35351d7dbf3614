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

constexpr int kMostChannels = 320;
constexpr int kMostRunBytes = 144;
constexpr int kMostRuns = 3;
constexpr int kMostPixels = 11;
constexpr int kRunStride = 2048;

struct Buffers {
  alignas(kVectorBytes) int8_t image[kRunStride * kMostRuns + kVectorBytes];
  int8_t filters[kMostChannels * kMostRuns * kMostRunBytes];
  alignas(
      kVectorBytes) uint8_t packed[kMostChannels * kMostRuns * kMostRunBytes];
  alignas(kVectorBytes) int32_t bias[kMostChannels];
  alignas(kVectorBytes) int32_t mantissa[kMostChannels];
  alignas(kVectorBytes) int32_t shift[kMostChannels];
  alignas(kVectorBytes) int32_t factor[kMostChannels];
  float scale[kMostChannels];
  int8_t result[kVectorBytes + kMostPixels * kMostChannels + kVectorBytes];
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
  int pixels;
  int channels;
  int pixel_bytes;
  int runs;
  int run_bytes;
  int step_bytes;
  bool fast;
  int offset;  // of the result's first byte
};

void Test(const Case &t) {
  Buffers &b = g_buffers;
  const int groups = (t.channels + kVectorWords - 1) / kVectorWords;
  const Window window = {t.runs, kRunStride,
                         (t.run_bytes + kStepBytes - 1) / kStepBytes};
  for (int8_t &x : b.image) x = static_cast<int8_t>(Next());
  for (int8_t &w : b.filters) w = static_cast<int8_t>(Next());
  memset(b.result, 77, sizeof(b.result));
  uint8_t *packed = b.packed;
  for (int c = 0; c < groups * kVectorWords; c += kBlockChannels) {
    int in_block = groups - c / kVectorWords;
    if (in_block > kTileGroups) in_block = kTileGroups;
    PackWeights(b.filters + c * t.runs * t.run_bytes, t.channels - c, in_block,
                t.run_bytes, window, packed);
    packed += WeightVectors(window, in_block) * kVectorBytes;
  }
  const int left = 8;
  const float base = 1.0f / static_cast<float>(40 * 127 * t.runs);
  for (int c = 0; c < groups * kVectorWords; ++c) {
    b.bias[c] = static_cast<int32_t>(Next() % 20001) - 10000;
    b.scale[c] = base * static_cast<float>(Next() % 1000 + 1) * 0.001f;
    MACE_EXPECT_EQ(SplitMultiplier(b.scale[c], &b.mantissa[c], &b.shift[c]),
                   true);
    MACE_EXPECT_EQ(FastFactor(b.scale[c], 1u << 21, left, &b.factor[c]), true);
  }
  const Convolution convolution = {
      window,
      t.step_bytes,
      groups,
      t.pixel_bytes,
      b.packed,
      {b.bias, b.mantissa, b.shift, t.fast ? b.factor : nullptr, left, true, -7,
       -100, 90}};
  int8_t *result = b.result + t.offset;
  ConvolveRow(convolution, b.image, t.pixels, result);
  for (int p = 0; p < t.pixels; ++p) {
    for (int c = 0; c < t.channels; ++c) {
      int32_t sum = b.bias[c];
      for (int run = 0; run < t.runs; ++run) {
        for (int i = 0; i < t.run_bytes; ++i) {
          sum += b.image[run * kRunStride + p * t.step_bytes + i] *
                 b.filters[(c * t.runs + run) * t.run_bytes + i];
        }
      }
      const float y = static_cast<float>(sum) * b.scale[c];
      MACE_EXPECT_EQ(result[p * t.pixel_bytes + c],
                     Clamp(Q6_R_convert_sf2w_R(y) - 7, -100, 90));
    }
  }
  // Nothing else was written.
  int touched = 0;
  for (int i = 0; i < t.offset; ++i) touched += b.result[i] != 77 ? 1 : 0;
  for (size_t i = t.offset + t.pixels * t.pixel_bytes; i < sizeof(b.result);
       ++i) {
    touched += b.result[i] != 77 ? 1 : 0;
  }
  MACE_EXPECT_EQ(touched, 0);
}

constexpr Case kCases[] = {
    // pixels, channels, pixel_bytes, runs, run_bytes, step_bytes, fast, offset
    {1, 32, 32, 1, 8, 8, false, 0},      {4, 128, 128, 1, 64, 64, true, 0},
    {5, 64, 64, 1, 32, 32, true, 0},     {11, 24, 24, 1, 16, 16, true, 3},
    {11, 1, 8, 3, 24, 8, true, 5},       {7, 96, 96, 3, 24, 8, false, 64},
    {7, 200, 200, 1, 136, 136, true, 8}, {9, 320, 320, 3, 72, 24, true, 100},
    {3, 130, 136, 2, 40, 8, false, 127}, {2, 16, 16, 1, 144, 144, true, 120},
};

}  // namespace
}  // namespace mace::hexagon

int main(int, char **) {
  for (const mace::hexagon::Case &test : mace::hexagon::kCases) {
    mace::hexagon::Test(test);
  }
  return mace::hexagon::Finish();
}
