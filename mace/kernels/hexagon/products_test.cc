// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Every size of a tile, with windows of several runs, against loops.

#include "mace/kernels/hexagon/products.h"

#include "mace/kernels/hexagon/platform/expect.h"

namespace mace::hexagon {
namespace {

constexpr int kMostRuns = 3;
constexpr int kMostBytes = 40;
constexpr int kRunStride = 96;
constexpr int kChannels = kTileGroups * kVectorWords;
constexpr int kPixelStride = 8;

struct Buffers {
  alignas(kVectorBytes) int8_t image[2048];
  int8_t filters[kChannels * kMostRuns * kMostBytes];
  alignas(kVectorBytes) uint8_t packed[kChannels * kMostRuns * kMostBytes];
  alignas(kVectorBytes) int32_t sums[kMostTilePixels * kChannels];
};

Buffers g_buffers;

uint32_t Next() {
  static uint64_t state = 7;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<uint32_t>(state >> 33);
}

template <int kGroups>
void Test(int runs, int run_bytes) {
  constexpr int kPixels = TilePixels(kGroups);
  Buffers &b = g_buffers;
  const Window window = {runs, kRunStride,
                         (run_bytes + kStepBytes - 1) / kStepBytes};
  // The last group is not full.
  const int channels = kGroups * kVectorWords - 5;
  for (int8_t &x : b.image) x = static_cast<int8_t>(Next());
  for (int8_t &w : b.filters) w = static_cast<int8_t>(Next());
  PackWeights(b.filters, channels, kGroups, run_bytes, window, b.packed);
  const int8_t *x[kPixels];
  for (int p = 0; p < kPixels; ++p) {
    x[p] = b.image + p * kPixelStride;
    int32_t total = 0;
    for (int run = 0; run < runs; ++run) {
      for (int i = 0; i < window.run_steps * kStepBytes; ++i) {
        total += x[p][run * kRunStride + i];
      }
    }
    for (int c = 0; c < kGroups * kVectorWords; ++c) {
      b.sums[p * kGroups * kVectorWords + c] = c - kWeightOffset * total;
    }
  }
  AddProducts<kPixels, kGroups>(x, window,
                                reinterpret_cast<const Vector *>(b.packed),
                                reinterpret_cast<Vector(*)[kGroups]>(b.sums));
  for (int p = 0; p < kPixels; ++p) {
    for (int c = 0; c < channels; ++c) {
      int32_t wanted = c;
      for (int run = 0; run < runs; ++run) {
        for (int i = 0; i < run_bytes; ++i) {
          wanted += x[p][run * kRunStride + i] *
                    b.filters[(c * runs + run) * run_bytes + i];
        }
      }
      MACE_EXPECT_EQ(b.sums[p * kGroups * kVectorWords + c], wanted);
    }
  }
}

}  // namespace
}  // namespace mace::hexagon

int main(int, char **) {
  constexpr int kBytes[] = {1, 8, 12, 40};
  for (int runs = 1; runs <= mace::hexagon::kMostRuns; ++runs) {
    for (const int bytes : kBytes) {
      mace::hexagon::Test<1>(runs, bytes);
      mace::hexagon::Test<2>(runs, bytes);
      mace::hexagon::Test<3>(runs, bytes);
      mace::hexagon::Test<4>(runs, bytes);
    }
  }
  return mace::hexagon::Finish();
}
