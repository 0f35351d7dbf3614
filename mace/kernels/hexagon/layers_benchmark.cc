// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Usage: layers_benchmark DEPTHWISE SIDE FILTER STRIDE CHANNELS OUTPUTS ROUNDS
//
// Computes a layer so often, and prints the packets that it takes
// (benchmarks/hexagon); its numbers are those of Layer.

#include "mace/kernels/hexagon/benchmark_program.h"
#include "mace/kernels/hexagon/convolution.h"
#include "mace/kernels/hexagon/depthwise.h"
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

bool HasRoom(const Layer &layer) {
  const int side = (layer.side - 1) * layer.stride + layer.filter;
  const int row = Steps(side * layer.channels) * kStepBytes;
  const int groups = (layer.outputs + kVectorWords - 1) / kVectorWords;
  const int run = Steps(layer.filter * layer.channels) * kStepBytes;
  const int weights =
      layer.filter * run * groups * (layer.depthwise ? 4 : kVectorWords);
  return layer.outputs <= kMostChannels &&
         side * row + kSlackBytes <= static_cast<int>(sizeof(Buffers::image)) &&
         layer.side * (layer.side + kPadding) * layer.outputs <=
             static_cast<int>(sizeof(Buffers::result)) &&
         weights <= static_cast<int>(sizeof(Buffers::weights));
}

}  // namespace
}  // namespace mace::hexagon

int main(int count, char **arguments) {
  using namespace mace::hexagon;  // NOLINT(google-build-using-namespace)
  constexpr int kNumbers = 7;
  if (count != kNumbers + 1) return 2;
  int n[kNumbers];
  for (int i = 0; i < kNumbers; ++i) n[i] = Number(arguments[i + 1]);
  const Layer layer = {n[0] != 0, n[1], n[2], n[3], n[4], n[5]};
  if (!HasRoom(layer)) return 3;
  Results results;
  if (!Fill(layer, &results)) return 4;
  RunRounds(n[kNumbers - 1], [&] { Run(layer, results); });
  return 0;
}
