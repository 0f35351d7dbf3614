// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of depthwise convolutions against loops and the scalar unit's floats.

#include "mace/kernels/hexagon/depthwise.h"

#include "mace/kernels/hexagon/platform/expect.h"
#include "mace/kernels/hexagon/platform/memory.h"
#include "mace/kernels/hexagon/requantize.h"

namespace mace::hexagon {
namespace {

constexpr int kMostChannels = 320;
constexpr int kMostTaps = 35;
constexpr int kMostResultBytes = 12000;
constexpr int kUntouched = 77;

struct Buffers {
  int8_t image[80000];
  int8_t filters[kMostChannels * kMostTaps];
  alignas(kVectorBytes) int8_t packed[kMostChannels * 64];
  alignas(kVectorBytes) int32_t bias[kMostChannels];
  alignas(kVectorBytes) int32_t mantissa[kMostChannels];
  alignas(kVectorBytes) int32_t shift[kMostChannels];
  alignas(kVectorBytes) int32_t factor[kMostChannels];
  float scale[kMostChannels];
  int8_t result[kVectorBytes + kMostResultBytes + kVectorBytes];
};

Buffers g_buffers;

uint32_t Next() {
  static uint64_t state = 13;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<uint32_t>(state >> 33);
}

struct Case {
  int height;
  int width;
  int dilation;
  int stride;
  int channels;
  int pixel_bytes;
  int pixels;
  bool fast;
  int offset;  // of the result's first byte
};

void Test(const Case &t) {
  Buffers &b = g_buffers;
  const int groups = (t.channels + kVectorWords - 1) / kVectorWords;
  const int columns =
      (t.pixels - 1) * t.stride + (t.width - 1) * t.dilation + 1;
  const int row = columns * t.pixel_bytes;
  const int image_bytes = ((t.height - 1) * t.dilation + 1) * row;
  MACE_EXPECT_EQ(image_bytes + kSlackBytes <= static_cast<int>(sizeof(b.image)),
                 true);
  for (int8_t &x : b.image) x = static_cast<int8_t>(Next());
  for (int8_t &w : b.filters) w = static_cast<int8_t>(Next());
  memset(b.result, kUntouched, sizeof(b.result));
  MACE_EXPECT_EQ(DepthwiseBytes(groups, t.height, t.width) <=
                     static_cast<int64_t>(sizeof(b.packed)),
                 true);
  PackDepthwise(b.filters, t.channels, groups, t.height, t.width, b.packed);
  const int left = 10;
  for (int c = 0; c < groups * kVectorWords; ++c) {
    b.bias[c] = static_cast<int32_t>(Next() % 2001) - 1000;
    // Powers of 2 have many products that are halves.
    b.scale[c] =
        c % 3 == 0 ? 1.0f / 512 : static_cast<float>(Next() % 1000 + 1) * 2e-6f;
    MACE_EXPECT_EQ(SplitMultiplier(b.scale[c], &b.mantissa[c], &b.shift[c]),
                   true);
    MACE_EXPECT_EQ(FastFactor(b.scale[c], 1u << 19, left, &b.factor[c]), true);
  }
  const Depthwise depthwise = {
      t.height,
      t.width,
      row * t.dilation,
      t.pixel_bytes * t.dilation,
      t.pixel_bytes * t.stride,
      groups,
      t.pixel_bytes,
      b.packed,
      {b.bias, b.mantissa, b.shift, t.fast ? b.factor : nullptr, left, true, 5,
       -128, 127}};
  int8_t *result = b.result + t.offset;
  DepthwiseRow(depthwise, b.image, t.pixels, result);
  for (int p = 0; p < t.pixels; ++p) {
    for (int c = 0; c < t.channels; ++c) {
      int32_t sum = b.bias[c];
      for (int i = 0; i < t.height; ++i) {
        for (int j = 0; j < t.width; ++j) {
          const int x = i * t.dilation * row +
                        (p * t.stride + j * t.dilation) * t.pixel_bytes + c;
          sum += b.image[x] * b.filters[(i * t.width + j) * t.channels + c];
        }
      }
      const float y = static_cast<float>(sum) * b.scale[c];
      int32_t wanted = Q6_R_convert_sf2w_R(y) + 5;
      wanted = wanted < -128 ? -128 : wanted > 127 ? 127 : wanted;
      MACE_EXPECT_EQ(result[p * t.pixel_bytes + c], wanted);
    }
  }
  int touched = 0;
  for (int i = 0; i < t.offset; ++i) {
    touched += b.result[i] != kUntouched ? 1 : 0;
  }
  const int end = t.offset + t.pixels * t.pixel_bytes;
  for (int i = end; i < static_cast<int>(sizeof(b.result)); ++i) {
    touched += b.result[i] != kUntouched ? 1 : 0;
  }
  MACE_EXPECT_EQ(touched, 0);
}

constexpr Case kCases[] = {
    // height, width, dilation, stride, channels, pixel_bytes, pixels, fast,
    // offset
    {3, 3, 1, 1, 128, 128, 4, true, 0},  {3, 3, 1, 2, 64, 64, 9, true, 0},
    {3, 3, 1, 1, 24, 24, 5, false, 8},   {3, 3, 1, 1, 64, 64, 7, true, 0},
    {3, 3, 2, 1, 32, 32, 9, true, 32},   {5, 5, 1, 1, 64, 64, 5, false, 8},
    {5, 5, 1, 1, 96, 96, 7, true, 64},   {5, 5, 1, 2, 200, 200, 3, true, 120},
    {3, 3, 1, 1, 32, 32, 83, true, 0},   {3, 3, 1, 2, 128, 128, 35, true, 0},
    {3, 3, 1, 1, 128, 128, 70, true, 1}, {5, 5, 1, 1, 128, 128, 11, true, 0},
    {3, 3, 3, 1, 144, 144, 12, true, 0}, {3, 3, 1, 3, 96, 96, 5, true, 0},
    {3, 3, 1, 2, 32, 32, 11, true, 0},   {5, 5, 1, 3, 64, 64, 5, true, 8},
    {3, 3, 2, 1, 64, 64, 10, false, 0},  {3, 3, 1, 1, 8, 8, 40, true, 0},
    {2, 3, 1, 1, 64, 64, 9, true, 0},    {6, 2, 1, 1, 40, 40, 7, false, 0},
    {7, 5, 1, 1, 32, 32, 6, true, 0},    {3, 3, 2, 1, 320, 320, 9, true, 40},
    {1, 3, 1, 1, 5, 8, 8, false, 8},     {4, 1, 1, 3, 130, 136, 4, true, 3},
};

}  // namespace
}  // namespace mace::hexagon

int main(int, char **) {
  for (const mace::hexagon::Case &test : mace::hexagon::kCases) {
    mace::hexagon::Test(test);
  }
  return mace::hexagon::Finish();
}
