// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Usage: layers_benchmark LAYER ROUNDS
//
// Computes a layer of MobileNet v1 of 224 x 224 pixels, or of another network,
// so often. The emulator counts the packets (benchmarks/hexagon); the
// difference of two runs is what a round takes.

#include "mace/kernels/hexagon/convolution.h"
#include "mace/kernels/hexagon/depthwise.h"
#include "mace/kernels/hexagon/platform/emulated.h"
#include "mace/kernels/hexagon/requantize.h"

namespace mace::hexagon {
namespace {

struct Layer {
  bool depthwise;
  int side;  // of the result
  int filter;
  int stride;
  int channels;  // of a pixel of the image, in bytes
  int outputs;
};

constexpr Layer kLayers[] = {
    {false, 112, 3, 2, 4, 32},
    {true, 112, 3, 1, 32, 32},
    {false, 112, 1, 1, 32, 64},
    {true, 56, 3, 2, 64, 64},
    {false, 56, 1, 1, 64, 128},
    {true, 56, 3, 1, 128, 128},
    {false, 56, 1, 1, 128, 128},
    {true, 28, 3, 2, 128, 128},
    {false, 28, 1, 1, 128, 256},
    {true, 28, 3, 1, 256, 256},
    {false, 28, 1, 1, 256, 256},
    {true, 14, 3, 2, 256, 256},
    {false, 14, 1, 1, 256, 512},
    {true, 14, 3, 1, 512, 512},
    {false, 14, 1, 1, 512, 512},
    {true, 7, 3, 2, 512, 512},
    {false, 7, 1, 1, 512, 1024},
    {true, 7, 3, 1, 1024, 1024},
    {false, 7, 1, 1, 1024, 1024},
    {false, 1, 1, 1, 1024, 1024},
    // Of other networks.
    {false, 56, 3, 1, 64, 64},
    {false, 14, 3, 1, 256, 256},
    {false, 112, 1, 1, 16, 96},
    {true, 56, 3, 2, 96, 96},
    {false, 56, 1, 1, 24, 144},
    {true, 56, 3, 1, 144, 144},
    {false, 56, 1, 1, 144, 24},
    {false, 28, 1, 1, 40, 240},
    {true, 28, 5, 1, 240, 240},
    {true, 28, 5, 2, 72, 72},
    {false, 14, 1, 1, 384, 96},
    {false, 14, 1, 1, 96, 576},
    {false, 1, 1, 1, 1280, 1000},
};
constexpr int kLayerCount = sizeof(kLayers) / sizeof(kLayers[0]);

constexpr int kMostChannels = 1280;
constexpr int kPadding = 2;  // columns

struct Buffers {
  alignas(kVectorBytes) int8_t image[5 << 20];
  alignas(kVectorBytes) int8_t result[3 << 19];
  alignas(kVectorBytes) uint8_t weights[kMostChannels * kMostChannels];
  alignas(kVectorBytes) int32_t bias[kMostChannels];
  alignas(kVectorBytes) int32_t mantissa[kMostChannels];
  alignas(kVectorBytes) int32_t shift[kMostChannels];
  alignas(kVectorBytes) int32_t factor[kMostChannels];
};

Buffers g_buffers;

uint32_t Next() {
  static uint64_t state = 5;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<uint32_t>(state >> 33);
}

// False if the sums do not fit: a fault of this file.
bool Fill(const Layer &layer, Results *results) {
  Buffers &b = g_buffers;
  const int products =
      layer.filter * layer.filter * (layer.depthwise ? 1 : layer.channels);
  // Sums spread like the root of their number.
  float spread = 1;
  while (spread * spread < static_cast<float>(products)) spread *= 2;
  int left = 0;
  const auto most = static_cast<uint32_t>(products) * 128 * 30;
  while ((most >> (30 - left - 1)) == 0) ++left;
  for (int8_t &x : b.image) x = static_cast<int8_t>(Next());
  for (uint8_t &w : b.weights) {
    w = static_cast<uint8_t>(kWeightOffset + static_cast<int>(Next() % 101) -
                             50);
  }
  for (int c = 0; c < kMostChannels; ++c) {
    const float m =
        (1 + static_cast<float>(Next() % 1000) * 0.001f) * 0.5f / (spread * 30);
    if (!SplitMultiplier(m, &b.mantissa[c], &b.shift[c])) return false;
    if (!FastFactor(m, most, left, &b.factor[c])) return false;
  }
  *results = {b.bias, b.mantissa, b.shift, b.factor, left, true, 0, -128, 127};
  return true;
}

int Steps(int bytes) { return (bytes + kStepBytes - 1) / kStepBytes; }

void Run(const Layer &layer, const Results &results) {
  Buffers &b = g_buffers;
  const int side = (layer.side - 1) * layer.stride + layer.filter;
  const int row = Steps(side * layer.channels) * kStepBytes;
  const int groups = (layer.outputs + kVectorWords - 1) / kVectorWords;
  const int step = layer.stride * layer.channels;
  if (!layer.depthwise) {
    const Window window = {layer.filter, row,
                           Steps(layer.filter * layer.channels)};
    const Convolution convolution = {window,        step,      groups,
                                     layer.outputs, b.weights, results};
    // Between rows lies what the next convolution reads as padding.
    const Rows rows = {layer.side, layer.side, layer.stride * row,
                       (layer.side + kPadding) * layer.outputs};
    ConvolveRows(convolution, rows, b.image, b.result);
    return;
  }
  const Depthwise depthwise = {
      layer.filter,  layer.filter,
      row,           layer.channels,
      step,          groups,
      layer.outputs, reinterpret_cast<int8_t *>(b.weights),
      results};
  for (int y = 0; y < layer.side; ++y) {
    DepthwiseRow(depthwise, b.image + y * layer.stride * row, layer.side,
                 b.result + y * layer.side * layer.outputs);
  }
}

int Number(const char *text) {
  int number = 0;
  for (; *text >= '0' && *text <= '9'; ++text)
    number = number * 10 + *text - '0';
  return number;
}

}  // namespace
}  // namespace mace::hexagon

int main(int count, char **arguments) {
  using namespace mace::hexagon;  // NOLINT(google-build-using-namespace)
  if (count != 3) return 2;
  const int layer = Number(arguments[1]);
  if (layer >= kLayerCount) return 3;
  Results results;
  if (!Fill(kLayers[layer], &results)) return 4;
  for (int i = 0; i < Number(arguments[2]); ++i) Run(kLayers[layer], results);
  return 0;
}
